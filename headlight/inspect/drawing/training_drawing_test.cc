#include "headlight/inspect/drawing/training_drawing.h"

#include <cairo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight::training_drawing_test {
namespace {

using testing::HasSubstr;

std::string OutputPath(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("headlight_training_" + name);
}

Curve MakeCurve(int count, double first, double last) {
  Curve curve;
  for (int i = 0; i < count; ++i) {
    curve.steps.push_back(10.0 * (i + 1));
    curve.values.push_back(first + (last - first) * i / count);
  }
  return curve;
}

// Returns the number of pixels with approximately this color.
int Pixels(const std::string& path, int red, int green, int blue) {
  cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
  const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
  int count = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint32_t pixel;
      std::memcpy(&pixel, cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) + 4 * x,
                  4);
      const auto far = [&](int shift, int part) { return std::abs(static_cast<int>(pixel >> shift & 255) - part) > 3; };
      count += !far(16, red) && !far(8, green) && !far(0, blue);
    }
  }
  cairo_surface_destroy(surface);
  return count;
}

int TrainPixels(const std::string& path) { return Pixels(path, 71, 119, 199); }
int ScorePixels(const std::string& path) { return Pixels(path, 30, 130, 95); }

TEST(DrawTraining, DrawsTheAvailableCurves) {
  TrainingCurves curves{"run", MakeCurve(500, 9, 2), {}, {}, {}};
  DrawTraining(curves, OutputPath("loss.png"));
  EXPECT_GT(TrainPixels(OutputPath("loss.png")), 1000);
  EXPECT_EQ(ScorePixels(OutputPath("loss.png")), 0);
  curves.scores = {{"bleu", MakeCurve(5, 0, 40)}};
  DrawTraining(curves, OutputPath("both.png"));
  EXPECT_GT(ScorePixels(OutputPath("both.png")), 500);
}

TEST(DrawTraining, EveryScoreHasAPanel) {
  TrainingCurves curves{"run", MakeCurve(500, 9, 2), {}, {}, {}};
  curves.scores = {{"f1", MakeCurve(5, 0, 40)}};
  DrawTraining(curves, OutputPath("one.png"));
  curves.scores.push_back({"exact_match", MakeCurve(5, 10, 30)});
  DrawTraining(curves, OutputPath("two.png"));
  EXPECT_GT(ScorePixels(OutputPath("two.png")), ScorePixels(OutputPath("one.png")) * 3 / 2);
}

TEST(DrawTraining, ALossThatIsNotFiniteIsAGap) {
  TrainingCurves curves{"run", MakeCurve(400, 9, 2), {}, {}, {}};
  DrawTraining(curves, OutputPath("whole.png"));
  for (int i = 100; i < 300; ++i) curves.train_loss.values[i] = std::numeric_limits<double>::quiet_NaN();
  DrawTraining(curves, OutputPath("gap.png"));
  EXPECT_LT(TrainPixels(OutputPath("gap.png")), 0.75 * TrainPixels(OutputPath("whole.png")));
  EXPECT_GT(TrainPixels(OutputPath("gap.png")), 0.25 * TrainPixels(OutputPath("whole.png")));
}

TEST(DrawTraining, ALongRunGivesASmallFile) {
  const TrainingCurves curves{"run",
                              MakeCurve(1'000'000, 9, 2),
                              MakeCurve(1000, 9, 3),
                              {{"bleu", MakeCurve(1000, 0, 40)}},
                              MakeCurve(1'000'000, 0, 1e-3)};
  DrawTraining(curves, OutputPath("long.svg"));
  EXPECT_LT(std::filesystem::file_size(OutputPath("long.svg")), 600'000u);
}

TEST(DrawTraining, DrawsTheShortestAndFlattestRuns) {
  for (const double value : {0.0, -3.0, 1e-9, 1e300}) {
    for (const int count : {1, 2}) {
      DrawTraining({"", MakeCurve(count, value, value), {}, {{"f1", MakeCurve(count, value, value)}}, {}},
                   OutputPath("flat.svg"));
      EXPECT_THAT(ReadFile(OutputPath("flat.svg")), testing::Not(HasSubstr("nan"))) << value;
    }
  }
}

TEST(DrawTraining, RefusesInvalidCurves) {
  const auto refusal = [](const TrainingCurves& curves, const char* name) -> std::string {
    try {
      DrawTraining(curves, OutputPath(name));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_THAT(refusal({}, "a.svg"), HasSubstr("no value"));
  EXPECT_THAT(refusal({"", {{1}, {NAN}}, {}, {}, {}}, "a.svg"), HasSubstr("no value"));
  EXPECT_THAT(refusal({"", {{1, 2}, {1}}, {}, {}, {}}, "a.svg"), HasSubstr("2 steps, but 1 values"));
  EXPECT_THAT(refusal({"", {{1, 1}, {1, 2}}, {}, {}, {}}, "a.svg"), HasSubstr("steps must increase"));
  EXPECT_THAT(refusal({"", {{1}, {1}}, {}, {}, {}}, "a.txt"), HasSubstr("must end in"));
}

}  // namespace
}  // namespace headlight::training_drawing_test

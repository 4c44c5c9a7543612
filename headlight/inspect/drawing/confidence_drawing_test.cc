#include "headlight/inspect/drawing/confidence_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/inspect/drawing/drawing_testing.h"

namespace headlight::confidence_drawing_test {
namespace {

using testing::HasSubstr;

TEST(DrawConfidence, PlddtHasTheColorsOfTheDatabase) {
  EXPECT_EQ(ColorOfLddt(90.1), (Color{0, 83, 214}));
  EXPECT_EQ(ColorOfLddt(90), (Color{101, 203, 243}));
  EXPECT_EQ(ColorOfLddt(70), (Color{255, 219, 19}));
  EXPECT_EQ(ColorOfLddt(50), (Color{255, 125, 69}));
  EXPECT_EQ(ColorOfLddt(0), (Color{255, 125, 69}));
}

// The pixel count of each color must match the area of the bars and squares. The legends are smaller.
TEST(DrawConfidence, DrawsEveryResidueAndPair) {
  const TemporaryFolder folder;
  const std::vector<float> plddt = {95, 80, 60}, errors = {0, 10, 20, 10, 0, 31.75F, 20, 5, 0};
  const ConfidenceImage confidence = {"query", plddt, {errors.data(), 3, 3, 3}};
  DrawConfidence(confidence, folder.File("a.png"));
  const Png png(folder.File("a.png"));
  const auto pixels_of = [&](const Color& color) {
    int count = 0;
    for (int y = 0; y < png.height(); ++y)
      for (int x = 0; x < png.width(); ++x) count += png.At(x, y) == color ? 1 : 0;
    return count;
  };
  constexpr int kLegend = 3000, kBar = 4 * 160 * 140, kPair = 4 * 160 * 160;  // two pixels per pixel of the canvas
  for (const float one : plddt)
    EXPECT_NEAR(pixels_of(ColorOfLddt(static_cast<double>(one))), kBar * static_cast<double>(one) / 100, kLegend)
        << one;
  EXPECT_LT(pixels_of(ColorOfLddt(10)), kLegend);
  for (const auto& [error, times] : {std::pair(0.0, 3), std::pair(10.0, 2), std::pair(20.0, 2), std::pair(5.0, 1)})
    EXPECT_NEAR(pixels_of(RampColor(1 - error / 31.75, Theme::light)), times * kPair, kLegend) << error;
  for (const char* const name : {"a.svg", "a.pdf"}) DrawConfidence(confidence, folder.File(name));
  EXPECT_THAT(ReadFile(folder.File("a.svg")), HasSubstr("<svg"));
  // If there are no aligned errors, no map is drawn.
  DrawConfidence({"query", plddt}, folder.File("b.png"));
  EXPECT_LT(Png(folder.File("b.png")).height(), png.height() / 2);
  DrawConfidence({"", std::vector<float>(3000, 50)}, folder.File("long.png"));
}

TEST(DrawConfidence, RefusesInvalidValues) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.png");
  std::vector<float> plddt = {95, 80}, errors = {0, 1, 2, 3};
  const auto error_of = [&](std::int64_t rows, const std::string& to) {
    return ErrorOf([&] { DrawConfidence({"", plddt, {errors.data(), rows, rows, rows}}, to); });
  };
  EXPECT_EQ(error_of(2, path), "");
  EXPECT_THAT(error_of(1, path), HasSubstr("1 x 1 residues"));
  EXPECT_THAT(error_of(2, folder.File("a.jpg")), HasSubstr(".svg"));
  errors[1] = 32;
  EXPECT_THAT(error_of(2, path), HasSubstr("a predicted error is 32"));
  plddt[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of(0, path), HasSubstr("not nan"));
  plddt.clear();
  EXPECT_THAT(error_of(0, path), HasSubstr("no residues"));
}

}  // namespace
}  // namespace headlight::confidence_drawing_test

#include "headlight/inspect/drawing/box_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "headlight/base/test_support.h"
#include "headlight/inspect/drawing/drawing_testing.h"

namespace headlight::box_drawing_test {
namespace {

Image Gray(std::int64_t width, std::int64_t height) {
  return {height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 3), 128)};
}

const std::vector<std::string> kLabels = {"cat", "dog"};

TEST(DrawBoxes, OutlinesThemInTheImagesOwnPixels) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.png");
  DrawBoxes(Gray(1200, 900), std::vector<FoundBox>{{{100, 200, 500, 600}, 1, 0.9}, {{-50, 700, 300, 2000}, 0, 0.8}},
            kLabels, path);
  const Png drawn(path);
  EXPECT_EQ(drawn.width(), 1200);
  EXPECT_EQ(drawn.height(), 900);
  const Color gray = {128, 128, 128};
  const Color dog = ColorOfClass(1), cat = ColorOfClass(0);
  EXPECT_NE(dog, cat);
  for (const auto& [x, y] : {std::pair{100, 400}, {500, 400}, {300, 200}, {300, 600}}) EXPECT_EQ(drawn.At(x, y), dog);
  EXPECT_EQ(drawn.At(300, 400), gray);
  EXPECT_EQ(drawn.At(110, 195), dog);  // behind the label, above the box
  EXPECT_EQ(drawn.At(200, 899), cat);  // a box that extends beyond the edge ends there
  EXPECT_EQ(drawn.At(1100, 800), gray);
}

TEST(DrawBoxes, LabelsDoNotCoverEachOther) {
  const TemporaryFolder folder;
  std::vector<FoundBox> found;
  for (int i = 0; i < 8; ++i) found.push_back({{100, 100, 300, 300}, i, 0.9 - 0.1 * i});
  DrawBoxes(Gray(480, 400), found, std::vector<std::string>(8, "animal"), folder.File("a.png"));
  const Png drawn(folder.File("a.png"));
  std::array<int, 8> pixels = {};  // the number of pixels of each class
  for (int y = 0; y < drawn.height(); ++y)
    for (int x = 0; x < drawn.width(); ++x)
      for (int i = 0; i < 8; ++i) pixels[static_cast<std::size_t>(i)] += drawn.At(x, y) == ColorOfClass(i);
  // Each label's background has more than 600 pixels of its class color. Only the last outline is visible.
  for (const int count : pixels) EXPECT_GT(count, 600);
}

TEST(DrawBoxes, EnlargesSmallImages) {
  const TemporaryFolder folder;
  DrawBoxes(Gray(48, 24), {}, kLabels, folder.File("a.png"));
  EXPECT_EQ(Png(folder.File("a.png")).width(), 960);
  EXPECT_EQ(Png(folder.File("a.png")).height(), 480);
}

TEST(DrawSegments, TintsTheirPixels) {
  const TemporaryFolder folder;
  Segmentation found{.height = 600, .width = 1000, .ids = std::vector<std::int32_t>(600'000)};
  for (std::size_t i = 0; i < 300'000; ++i) found.ids[i] = i % 1000 < 400 ? 1 : 2;  // the upper half
  found.segments = {{1, 0, 0.9, 120'000}, {2, 1, 0.8, 180'000}};
  DrawSegments(Gray(1000, 600), found, kLabels, folder.File("a.png"));
  const Png drawn(folder.File("a.png"));
  EXPECT_EQ(drawn.width(), 1000);
  const auto tinted = [](int index) {
    const Color color = ColorOfClass(index);
    const auto half = [](std::uint8_t channel) { return static_cast<std::uint8_t>((channel + 128) / 2); };
    return Color{half(color.red), half(color.green), half(color.blue)};
  };
  EXPECT_EQ(drawn.At(100, 250), tinted(0));
  EXPECT_EQ(drawn.At(900, 250), tinted(1));
  EXPECT_EQ(drawn.At(500, 500), (Color{128, 128, 128}));
  EXPECT_EQ(drawn.At(399, 280), (Color{255, 255, 255}));  // the edge between the two segments
  EXPECT_EQ(drawn.At(200, 136), ColorOfClass(0));         // the background of the label, in the middle
  found.segments[0].label_id = 7;
  EXPECT_THAT(ErrorOf([&] { DrawSegments(Gray(1000, 600), found, kLabels, folder.File("a.png")); }),
              testing::HasSubstr("class 7 is out of range"));
  EXPECT_THAT(ErrorOf([&] { DrawSegments(Gray(9, 9), found, kLabels, folder.File("a.png")); }),
              testing::HasSubstr("an image of 9 x 9"));
}

TEST(DrawBoxes, RefusesInvalidRequests) {
  const TemporaryFolder folder;
  const std::vector<FoundBox> foreign = {{{0, 0, 1, 1}, 2, 0.5}};
  EXPECT_THAT(ErrorOf([&] { DrawBoxes(Gray(9, 9), foreign, kLabels, folder.File("a.png")); }),
              testing::HasSubstr("class 2 is out of range"));
  EXPECT_THAT(ErrorOf([&] { DrawBoxes(Gray(9, 9), {}, kLabels, folder.File("a.gif")); }),
              testing::HasSubstr("must end in"));
  EXPECT_THAT(ErrorOf([&] { DrawBoxes({}, {}, kLabels, folder.File("a.png")); }), testing::HasSubstr("without pixels"));
}

}  // namespace
}  // namespace headlight::box_drawing_test

#include "headlight/synthetic/scenes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "headlight/base/test_support.h"

namespace headlight::scenes_test {
namespace {

TEST(Scenes, AreDeterministicAndDifferBySeed) {
  const Scene scene = DrawScene(3, 5);
  const Scene again = DrawScene(3, 5);
  EXPECT_EQ(scene.image, again.image);
  EXPECT_EQ(scene.boxes, again.boxes);
  EXPECT_NE(DrawScene(3, 6).image, scene.image);
  EXPECT_NE(DrawScene(4, 5).image, scene.image);
}

TEST(Scenes, HaveEveryClassAndSizeInsideTheImage) {
  std::set<std::int32_t> labels;
  std::size_t most = 0, fewest = 100;
  double smallest = 1e9, largest = 0, hidden = 0;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const Scene scene = DrawScene(1, number, {.height = 96, .width = 128});
    EXPECT_EQ(scene.image.pixels.size(), 96U * 128U * 3U);
    most = std::max(most, scene.boxes.size());
    fewest = std::min(fewest, scene.boxes.size());
    for (const LabeledBox& one : scene.boxes) {
      labels.insert(one.label);
      EXPECT_GE(one.box.left, 0);
      EXPECT_GE(one.box.top, 0);
      EXPECT_LE(one.box.right, 128);
      EXPECT_LE(one.box.bottom, 96);
      EXPECT_GT(one.box.width(), 4);
      EXPECT_GT(one.box.height(), 4);
      EXPECT_GT(one.area, 0.15 * one.box.area());
      EXPECT_LE(one.area, one.box.area());
      smallest = std::min(smallest, one.box.width());
      largest = std::max(largest, one.box.width());
      if (one.label == 0) hidden = std::max(hidden, 1 - one.area / (0.785 * one.box.area()));
    }
  }
  EXPECT_EQ(labels.size(), SceneLabels().size());
  EXPECT_EQ(most, 6U);
  EXPECT_EQ(fewest, 1U);
  EXPECT_GT(largest, 3 * smallest);
  EXPECT_GT(hidden, 0.1);  // at least one circle is partly hidden by another shape
}

// Checks that the middle of the box has the shape's color, which differs from the color at the image's corners.
TEST(Scenes, ShapesDifferFromTheBackground) {
  const Scene scene = DrawScene(2, 0, {.height = 64, .width = 64, .fewest = 1, .most = 1, .clutter = false});
  ASSERT_EQ(scene.boxes.size(), 1U);
  const LabeledBox& one = scene.boxes.front();
  // Pixels on the box's border belong to the shape.
  std::int64_t distinct = 0;
  const std::uint8_t* const corner = scene.image.row(0);
  for (std::int64_t x = static_cast<std::int64_t>(one.box.left); x < static_cast<std::int64_t>(one.box.right); ++x) {
    const std::uint8_t* const pixel = scene.image.row(static_cast<std::int64_t>(one.box.top)) + 3 * x;
    distinct += std::abs(pixel[0] - corner[0]) + std::abs(pixel[1] - corner[1]) + std::abs(pixel[2] - corner[2]) > 40;
  }
  EXPECT_GE(distinct, 1);
}

TEST(Scenes, RefuseImpossibleOptions) {
  EXPECT_THAT(ErrorOf([] { DrawScene(1, 1, {.height = 8}); }), testing::HasSubstr("sides of 16 to 4096"));
  EXPECT_THAT(ErrorOf([] { DrawScene(1, 1, {.fewest = 4, .most = 3}); }), testing::HasSubstr("0 to 100 shapes"));
  EXPECT_THAT(ErrorOf([] { DrawScene(1, 1, {.smallest = 0.4, .largest = 0.6}); }), testing::HasSubstr("0.4 to 0.6"));
}

}  // namespace
}  // namespace headlight::scenes_test

#include "headlight/synthetic/shape_scenes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::shape_scenes_test {
namespace {

TEST(ShapeScenes, AreDeterministicAndDifferBySeed) {
  const ShapeScene scene = DrawShapeScene(3, 5, Portion::training);
  const ShapeScene again = DrawShapeScene(3, 5, Portion::training);
  EXPECT_EQ(scene.image, again.image);
  EXPECT_EQ(scene.shapes, again.shapes);
  EXPECT_EQ(scene.boxes, again.boxes);
  EXPECT_NE(DrawShapeScene(3, 6, Portion::training).image, scene.image);
  EXPECT_NE(DrawShapeScene(4, 5, Portion::training).image, scene.image);
}

TEST(ShapeScenes, ImagesMatchTheContents) {
  std::set<std::int32_t> labels, places;
  std::map<std::size_t, int> counts;
  int hiding = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const ShapeScene scene = DrawShapeScene(1, number, Portion::training);
    ASSERT_EQ(scene.boxes.size(), scene.shapes.size());
    ++counts[scene.shapes.size()];
    std::set<std::int32_t> here;
    for (std::size_t i = 0; i < scene.shapes.size(); ++i) {
      const SceneShape& shape = scene.shapes[i];
      const LabeledBox& one = scene.boxes[i];
      labels.insert(one.label);
      here.insert(shape.place);
      places.insert(shape.place);
      EXPECT_EQ(one.label, shape.label());
      EXPECT_GE(one.box.left, 0);
      EXPECT_LE(one.box.bottom, 64);
      // The center of the box is in the named column and row.
      const double x = (one.box.left + one.box.right) / 2 / 64, y = (one.box.top + one.box.bottom) / 2 / 64;
      EXPECT_NEAR(x, 0.5 + 0.26 * (shape.column() - 1), 0.11) << number;
      EXPECT_NEAR(y, 0.5 + 0.26 * (shape.row() - 1), 0.11) << number;
      // Each large shape is larger than any small shape.
      const double side = std::max(one.box.width(), one.box.height()) / 64;
      EXPECT_GT(side, shape.size == 0 ? 0.12 : 0.25) << number;
      EXPECT_LT(side, shape.size == 0 ? 0.27 : 0.45) << number;
      EXPECT_GT(one.area, 0);
      // A shape that is partly hidden remains mostly visible.
      bool hidden = false;
      for (std::size_t by = 0; by < scene.shapes.size(); ++by) hidden |= scene.hides[by][i];
      hiding += hidden ? 1 : 0;
      EXPECT_FALSE(scene.hides[i][i]);
      if (shape.kind != 0) continue;
      EXPECT_NEAR(one.area / (0.785 * one.box.area()), hidden ? 0.74 : 1, hidden ? 0.22 : 0.1) << number;
    }
    EXPECT_EQ(here.size(), scene.shapes.size());
  }
  EXPECT_EQ(labels.size(), 48U);
  EXPECT_EQ(places.size(), 9U);
  for (std::size_t count = 1; count <= 4; ++count) EXPECT_NEAR(counts[count], 75, 30);
  EXPECT_GT(hiding, 60);
}

// Checks the color in the middle of the foremost shape's box, except for rings.
TEST(ShapeScenes, ShapesHaveTheirColors) {
  std::array<std::array<double, 3>, kSceneColors> sums = {};
  std::array<int, kSceneColors> counts = {};
  for (std::uint64_t number = 0; number < 400; ++number) {
    const ShapeScene scene = DrawShapeScene(2, number, Portion::training);
    const SceneShape& shape = scene.shapes.back();
    if (shape.kind == 5) continue;
    const Box& box = scene.boxes.back().box;
    const std::uint8_t* const pixel = scene.image.row(static_cast<std::int64_t>((box.top + box.bottom) / 2)) +
                                      3 * static_cast<std::int64_t>((box.left + box.right) / 2);
    const auto color = static_cast<std::size_t>(shape.color);
    for (std::size_t i = 0; i < 3; ++i) sums[color][i] += pixel[i];
    ++counts[color];
  }
  const auto mean = [&](std::size_t color, std::size_t channel) { return sums[color][channel] / counts[color]; };
  EXPECT_GT(mean(0, 0), mean(0, 1) + 150);  // red
  EXPECT_GT(mean(1, 1), mean(1, 0) + 90);   // green
  EXPECT_GT(mean(2, 2), mean(2, 0) + 130);  // blue
  EXPECT_GT(mean(4, 1), 230);               // white
  EXPECT_LT(mean(5, 1), 30);                // black
}

TEST(ShapeScenes, PortionsAreDisjoint) {
  std::set<std::vector<std::int32_t>> training;
  const auto key = [](const ShapeScene& scene) {
    std::vector<std::int32_t> all(kScenePlaces, -1);
    for (const SceneShape& shape : scene.shapes)
      all[static_cast<std::size_t>(shape.place)] = shape.label() * kSceneSizes + shape.size;
    return all;
  };
  const ShapeSceneOptions one = {.side = 32, .fewest = 1, .most = 1};
  for (std::uint64_t number = 0; number < 4000; ++number)
    training.insert(key(DrawShapeScene(1, number, Portion::training, one)));
  EXPECT_GT(training.size(), 700U);  // there are 864 different scenes with one shape
  for (std::uint64_t number = 0; number < 500; ++number) {
    const ShapeScene scene = DrawShapeScene(1, number, Portion::held_out, one);
    EXPECT_FALSE(training.contains(key(scene)));
  }
  std::vector<SceneShape> shapes = {{0, 1, 0, 2}, {3, 4, 1, 5}, {2, 2, 1, 7}};
  const Portion portion = PortionOf(shapes);
  std::ranges::reverse(shapes);
  EXPECT_EQ(PortionOf(shapes), portion);
}

TEST(ShapeScenes, RefuseImpossibleOptions) {
  const auto error = [](const ShapeSceneOptions& options) {
    return ErrorOf([&] { DrawShapeScene(1, 1, Portion::training, options); });
  };
  EXPECT_THAT(error({.side = 16}), testing::HasSubstr("1024 pixels, not 16"));
  EXPECT_THAT(error({.fewest = 0}), testing::HasSubstr("not 0 to 4"));
  EXPECT_THAT(error({.fewest = 3, .most = 2}), testing::HasSubstr("not 3 to 2"));
  EXPECT_THAT(error({.most = 5}), testing::HasSubstr("not 1 to 5"));
}

TEST(ShapeScenes, TwinsDifferInOneAttribute) {
  const ShapeSceneOptions twins = {.twins = true};
  std::map<std::string, int> changed;
  for (std::uint64_t number = 0; number < 400; number += 2) {
    const ShapeScene one = DrawShapeScene(5, number, Portion::held_out, twins);
    const ShapeScene other = DrawShapeScene(5, number + 1, Portion::held_out, twins);
    EXPECT_EQ(DrawShapeScene(5, number, Portion::held_out).image, one.image);
    EXPECT_EQ(PortionOf(other.shapes), Portion::held_out);
    EXPECT_NE(one.image, other.image);
    std::vector<std::string> here;
    for (std::size_t i = 0; i < std::min(one.shapes.size(), other.shapes.size()); ++i) {
      const SceneShape &a = one.shapes[i], &b = other.shapes[i];
      if (a.size != b.size) here.emplace_back("size");
      if (a.color != b.color) here.emplace_back("colour");
      if (a.kind != b.kind) here.emplace_back("kind");
      if (a.place != b.place) here.emplace_back("place");
    }
    ++changed[here.size() == 1 && one.shapes.size() == other.shapes.size() ? here.front() : "none"];
  }
  for (const char* name : {"size", "colour", "kind", "place"}) EXPECT_GT(changed[name], 15) << name;
  EXPECT_LT(changed["none"], 25);  // there are 200 pairs of scenes
}

TEST(ShapeScenes, BoxesDetermineTheContent) {
  for (std::uint64_t number = 0; number < 300; ++number) {
    const ShapeScene scene = DrawShapeScene(2, number, Portion::held_out, {.side = 96});
    EXPECT_EQ(ContentOfBoxes(scene.boxes, 96).shapes, scene.shapes) << number;
  }
  EXPECT_THAT(ErrorOf([] {
                ContentOfBoxes(std::vector<LabeledBox>{{.box = {0, 0, 9, 9}, .label = 48}}, 64);
              }),
              testing::HasSubstr("class 48"));
}

}  // namespace
}  // namespace headlight::shape_scenes_test

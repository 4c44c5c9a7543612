#include "headlight/demo/scene_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"
#include "headlight/data/detection.h"
#include "headlight/data/pictures.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"

namespace headlight {
namespace {

constexpr SceneOptions kScenes = {.height = 32, .width = 48, .fewest = 0, .most = 3};

TEST(SceneFiles, HoldTheScenesAsADetectorLearnsThem) {
  const TemporaryFolder folder;
  WriteScenes(folder.File("scenes"), 5, 3, kScenes);
  std::vector<std::string> labels;
  const DetectionSet set =
      ReadDetectionSet({folder.File("scenes/annotations.json")}, {}, labels, NewLabels::added, ReadVoc);
  EXPECT_EQ(labels, SceneLabels());
  ASSERT_EQ(set.examples.size(), 5U);
  EXPECT_EQ(set.dropped, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    const Scene scene = DrawScene(3, i, kScenes);
    EXPECT_EQ(ReadPicture(set.examples[i].picture), scene.picture);
    EXPECT_EQ(set.examples[i].boxes, scene.boxes);
    EXPECT_EQ(set.examples[i].width, 48);
  }
}

TEST(SceneFiles, HoldShapesAndTheirClasses) {
  const TemporaryFolder folder;
  const SceneOptions one = {.height = 32, .width = 48, .fewest = 1, .most = 1};
  WriteShapes(folder.File("some"), 40, 1, kScenes);
  std::vector<std::string> labels;
  const PictureList list = ListLabelledPictures(
      {folder.File("some-images-idx4-ubyte"), folder.File("some-labels-idx1-ubyte")}, labels, NewLabels::added);
  EXPECT_EQ(labels, (std::vector<std::string>{"0", "1", "2", "3", "4", "5"}));
  std::size_t drawn = 0;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Scene scene = DrawScene(1, number, one);
    if (scene.boxes.empty()) continue;
    ASSERT_LT(drawn, list.sources.size());
    EXPECT_EQ(ReadPicture(list.sources[drawn]), scene.picture);
    EXPECT_EQ(list.labels[drawn++], scene.boxes.front().label);
  }
  EXPECT_EQ(drawn, list.sources.size());
  EXPECT_GT(drawn, 30U);
}

}  // namespace
}  // namespace headlight

#include "headlight/pipelines/object_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"
#include "headlight/pipelines/testing.h"

namespace headlight::detector_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/" + name; }

struct Detectors : testing::Test {
  Detectors() { std::filesystem::copy(FolderOf("detr"), folder.path()); }

  TemporaryFolder folder;
  const std::vector<Image> images = {Pattern(50, 30), Pattern(20, 41), Pattern(33, 33), Pattern(8, 70)};
};

// Compares with the goldens of tools/make_detector_goldens.py.
TEST(ObjectDetector, EqualsTransformers) {
  for (const char* name : {"detr", "detr_padded", "detr_learned"}) {
    const ObjectDetector detector = ObjectDetector::Load(FolderOf(name));
    const JsonView golden = ReadJson(FolderOf(name) + "/found.json");
    std::size_t compared = 0;
    for (const JsonView& image : golden["images"].Items()) {
      const std::vector<DetectedObject> found =
          detector.Detect({Pattern(image["width"].Integer(1, 100), image["height"].Integer(1, 100))},
                          {.threshold = golden["threshold"].Number(0, 1)})[0];
      const std::vector<JsonView> scores = image["scores"].Items(), labels = image["labels"].Items(),
                                  boxes = image["boxes"].Items();
      ASSERT_EQ(found.size(), scores.size()) << image.location();
      // Transformers returns the objects in the order of the queries.
      std::vector<std::size_t> order(scores.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return scores[i].Number(0, 1); });
      for (std::size_t i = 0; i < order.size(); ++i, ++compared) {
        EXPECT_NEAR(found[i].score, scores[order[i]].Number(0, 1), 1e-5);
        EXPECT_EQ(found[i].label_id, labels[order[i]].Integer(0, 1));
        EXPECT_EQ(found[i].label, detector.labels()[static_cast<std::size_t>(found[i].label_id)]);
        const std::vector<JsonView> box = boxes[order[i]].Items();
        EXPECT_NEAR(found[i].box.left, box[0].Number(-1e3, 1e3), 1e-3);
        EXPECT_NEAR(found[i].box.top, box[1].Number(-1e3, 1e3), 1e-3);
        EXPECT_NEAR(found[i].box.right, box[2].Number(-1e3, 1e3), 1e-3);
        EXPECT_NEAR(found[i].box.bottom, box[3].Number(-1e3, 1e3), 1e-3);
      }
    }
    EXPECT_GE(compared, 3U) << name;
  }
}

TEST_F(Detectors, AreBatchInvariant) {
  for (const Compute compute : {Compute::float32, Compute::int8}) {
    const ObjectDetector detector = ObjectDetector::Load(folder.path(), {.compute = compute});
    std::vector<std::vector<DetectedObject>> alone;
    for (const Image& image : images) alone.push_back(detector.Detect(image, {.threshold = 0}));
    EXPECT_EQ(alone[0].size(), 3U);
    for (const std::int64_t pixels : {1, 20000, 1 << 20})
      EXPECT_EQ(detector.Detect(images, {.threshold = 0, .batch_pixels = pixels}), alone) << pixels;
    std::vector<Image> fitted;
    std::vector<ImageSize> sizes;
    for (const Image& image : images) {
      fitted.push_back(detector.Fit(image));
      sizes.push_back({image.height, image.width});
    }
    EXPECT_EQ(detector.DetectFitted(fitted, sizes, {.threshold = 0}), alone);
  }
}

TEST_F(Detectors, RefuseInvalidInput) {
  const ObjectDetector detector = ObjectDetector::Load(folder.path());
  EXPECT_EQ(detector.Detect(std::span<const Image>()).size(), 0U);
  EXPECT_THAT(ErrorOf([&] { detector.Detect({images[0], Image{}}); }), HasSubstr("image 2: 0 x 0"));
  EXPECT_THAT(ErrorOf([&] { detector.Detect(images, {.threshold = 1.5}); }), HasSubstr("threshold"));
  EXPECT_THAT(ErrorOf([&] { detector.Detect(images, {.batch_pixels = 0}); }), HasSubstr("batch_pixels"));
  EXPECT_THAT(ErrorOf([&] { detector.DetectFitted(images, {}); }), HasSubstr("the sizes of 0"));
  EXPECT_THAT(ErrorOf([&] { ObjectDetector::Load(folder.path(), {.shortlist = true}); }), HasSubstr("shortlist"));
  EXPECT_THAT(ErrorOf([&] { ObjectDetector::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify"); }),
              HasSubstr("detector"));
  WriteFile(folder.File("preprocessor_config.json"), R"({"image_processor_type": "CLIPImageProcessor"})");
  EXPECT_THAT(ErrorOf([&] { ObjectDetector::Load(folder.path()); }), HasSubstr("crops images"));
  std::filesystem::remove(folder.File("preprocessor_config.json"));
  EXPECT_THAT(ErrorOf([&] { ObjectDetector::Load(folder.path()); }), HasSubstr("preprocessor_config.json"));
  std::filesystem::copy_file(FolderOf("detr") + "/preprocessor_config.json", folder.File("preprocessor_config.json"));
  DamageWeights(folder.path());
  EXPECT_THAT(ErrorOf([&] {
                ObjectDetector::Load(folder.path()).Detect(images, {.name_of = [](std::size_t) { return "a.jpg"; }});
              }),
              HasSubstr("detecting in a.jpg"));
}

}  // namespace
}  // namespace headlight::detector_test

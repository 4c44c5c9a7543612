#include "headlight/pipelines/image_segmenter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"
#include "headlight/pipelines/testing.h"

namespace headlight::segmenter_test {
namespace {

using testing::HasSubstr;

const std::string kDetectors = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/", kFolder = kDetectors + "detr_masks";

// Compares with the goldens of tools/make_detector_goldens.py.
TEST(ImageSegmenter, EqualsTransformers) {
  const ImageSegmenter segmenter = ImageSegmenter::Load(kFolder);
  const JsonView golden = ReadJson(kFolder + "/found.json");
  std::size_t compared = 0;
  for (const JsonView& image : golden["images"].Items()) {
    const std::int64_t width = image["width"].Integer(1, 100), height = image["height"].Integer(1, 100);
    const Segmentation found =
        segmenter.Segment(Pattern(width, height), {.threshold = golden["threshold"].Number(0, 1)});
    const std::vector<JsonView> segments = image["segments"].Items(), ids = image["segmentation"].Items();
    EXPECT_EQ(found.width, width);
    ASSERT_EQ(found.segments.size(), segments.size());
    for (std::size_t i = 0; i < segments.size(); ++i, ++compared) {
      EXPECT_EQ(found.segments[i].label_id, segments[i].Items()[1].Integer(0, 9));
      EXPECT_EQ(found.segments[i].label, segmenter.labels()[static_cast<std::size_t>(found.segments[i].label_id)]);
      EXPECT_NEAR(found.segments[i].score, segments[i].Items()[2].Number(0, 1), 1e-5);
    }
    ASSERT_EQ(found.ids.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(found.ids[i], ids[i].Integer(0, 9)) << i;
  }
  EXPECT_GE(compared, 2U);
}

TEST(ImageSegmenter, IsBatchInvariant) {
  const std::vector<Image> images = {Pattern(50, 30), Pattern(20, 41), Pattern(33, 33), Pattern(8, 70)};
  // If thresholds are 0, every query to which a pixel is assigned is a segment.
  const SegmentOptions all = {.threshold = 0, .rules = {.mask_threshold = 0, .overlap = 0}};
  const ImageSegmenter segmenter = ImageSegmenter::Load(kFolder);
  std::vector<Segmentation> alone;
  std::size_t segments = 0;
  for (const Image& image : images) {
    alone.push_back(segmenter.Segment({image}, all)[0]);
    segments += alone.back().segments.size();
  }
  EXPECT_GE(segments, 4U);
  for (const std::int64_t pixels : {1, 20000, 1 << 20}) {
    SegmentOptions options = all;
    options.batch_pixels = pixels;
    EXPECT_EQ(segmenter.Segment(images, options), alone) << pixels;
  }
}

TEST(ImageSegmenter, RefusesInvalidInput) {
  EXPECT_THAT(ErrorOf([&] { ImageSegmenter::Load(kDetectors + "detr"); }), HasSubstr("no head for masks"));
  const ImageSegmenter segmenter = ImageSegmenter::Load(kFolder);
  EXPECT_THAT(ErrorOf([&] { segmenter.Segment({Pattern(9, 9)}, {.threshold = -1}); }), HasSubstr("threshold"));
  EXPECT_THAT(ErrorOf([&] { segmenter.SegmentFitted({}, std::vector<ImageSize>(2)); }), HasSubstr("the sizes of 2"));
  const TemporaryFolder folder;
  std::filesystem::copy(kFolder, folder.path());
  DamageWeights(folder.path());
  EXPECT_THAT(ErrorOf([&] { ImageSegmenter::Load(folder.path()).Segment({Pattern(9, 9)}); }),
              HasSubstr("detecting in image 1"));
}

}  // namespace
}  // namespace headlight::segmenter_test

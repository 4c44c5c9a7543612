#include "headlight/tasks/segmenter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"
#include "headlight/tasks/testing.h"

namespace headlight::segmenter_test {
namespace {

using testing::HasSubstr;

const std::string kDetectors = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/", kFolder = kDetectors + "detr_masks";

// tools/make_detector_goldens.py
TEST(Segmenter, FindsTheSegmentsOfTransformers) {
  const Segmenter segmenter = Segmenter::Load(kFolder);
  const JsonView golden = ReadJson(kFolder + "/found.json");
  std::size_t compared = 0;
  for (const JsonView& picture : golden["pictures"].Items()) {
    const std::int64_t width = picture["width"].Integer(1, 100), height = picture["height"].Integer(1, 100);
    const Segmentation found =
        segmenter.Segment({Pattern(width, height)}, {.threshold = golden["threshold"].Number(0, 1)})[0];
    const std::vector<JsonView> segments = picture["segments"].Items(), ids = picture["segmentation"].Items();
    EXPECT_EQ(found.width, width);
    ASSERT_EQ(found.segments.size(), segments.size());
    for (std::size_t i = 0; i < segments.size(); ++i, ++compared) {
      EXPECT_EQ(found.segments[i].label, segments[i].Items()[1].Integer(0, 9));
      EXPECT_NEAR(found.segments[i].score, segments[i].Items()[2].Number(0, 1), 1e-5);
    }
    ASSERT_EQ(found.ids.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(found.ids[i], ids[i].Integer(0, 9)) << i;
  }
  EXPECT_GE(compared, 2U);
}

TEST(Segmenter, FindsTheSameInAPictureAloneAndInAnyBatch) {
  const std::vector<Picture> pictures = {Pattern(50, 30), Pattern(20, 41), Pattern(33, 33), Pattern(8, 70)};
  // So that every query is a segment where it wins a pixel.
  const SegmentOptions all = {.threshold = 0, .rules = {.mask_threshold = 0, .overlap = 0}};
  const Segmenter segmenter = Segmenter::Load(kFolder);
  std::vector<Segmentation> alone;
  std::size_t segments = 0;
  for (const Picture& picture : pictures) {
    alone.push_back(segmenter.Segment({picture}, all)[0]);
    segments += alone.back().segments.size();
  }
  EXPECT_GE(segments, 4U);
  for (const std::int64_t pixels : {1, 20000, 1 << 20}) {
    SegmentOptions options = all;
    options.batch_pixels = pixels;
    EXPECT_EQ(segmenter.Segment(pictures, options), alone) << pixels;
  }
}

TEST(Segmenter, RefusesWhatItCannotDo) {
  EXPECT_THAT(ErrorOf([&] { Segmenter::Load(kDetectors + "detr"); }), HasSubstr("no head for masks"));
  const Segmenter segmenter = Segmenter::Load(kFolder);
  EXPECT_THAT(ErrorOf([&] { segmenter.Segment({Pattern(9, 9)}, {.threshold = -1}); }), HasSubstr("threshold"));
  EXPECT_THAT(ErrorOf([&] { segmenter.SegmentFitted({}, std::vector<PictureSize>(2)); }), HasSubstr("the sizes of 2"));
  const TemporaryFolder folder;
  std::filesystem::copy(kFolder, folder.path());
  DamageWeights(folder.path());
  EXPECT_THAT(ErrorOf([&] { Segmenter::Load(folder.path()).Segment({Pattern(9, 9)}); }),
              HasSubstr("detecting in picture 1"));
}

}  // namespace
}  // namespace headlight::segmenter_test

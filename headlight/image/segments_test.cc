#include "headlight/image/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::segments_test {
namespace {

std::vector<float> Floats(const JsonView& list) {
  std::vector<float> numbers;
  for (const JsonView& item : list.Items()) numbers.push_back(static_cast<float>(item.Number(-1e6, 1e6)));
  return numbers;
}

// Compares the segments with goldens from tools/make_detector_goldens.py.
TEST(Segments, MatchTransformers) {
  const JsonView cases = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/segments.json");
  ASSERT_EQ(cases.Items().size(), 4U);
  for (const JsonView& one : cases.Items()) {
    const ImageSize masks = {one["height"].Integer(1, 99), one["width"].Integer(1, 99)};
    const ImageSize size = {one["size"].Items()[0].Integer(1, 99), one["size"].Items()[1].Integer(1, 99)};
    const std::vector<float> cells = Floats(one["masks"]), logits = Floats(one["logits"]);
    const auto count = static_cast<std::size_t>(masks.height * masks.width);
    std::vector<MaskedThing> things;
    for (std::size_t query = 0; query * count < cells.size(); ++query) {
      const auto row = logits.begin() + static_cast<std::ptrdiff_t>(query * 4);
      float sum = 0;
      for (auto logit = row; logit != row + 4; ++logit) sum += std::exp(*logit);
      const auto best = std::max_element(row, row + 4);
      const float score = std::exp(*best) / sum;
      if (best == row + 3 || score <= static_cast<float>(one["threshold"].Number(0, 1))) continue;
      things.push_back({.label = static_cast<std::int32_t>(best - row), .score = score});
      for (std::size_t cell = 0; cell < count; ++cell)
        things.back().mask.push_back(1 / (1 + std::exp(-cells[query * count + cell])));
    }
    const Segmentation result =
        SegmentsOf(things, masks, size,
                   {.mask_threshold = one["mask_threshold"].Number(0, 1), .overlap = one["overlap"].Number(0, 1)});
    const std::vector<JsonView> segments = one["segments"].Items(), ids = one["segmentation"].Items();
    ASSERT_EQ(result.segments.size(), segments.size());
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const std::vector<JsonView> expected = segments[i].Items();
      EXPECT_EQ(result.segments[i].id, expected[0].Integer(1, 99));
      EXPECT_EQ(result.segments[i].label_id, expected[1].Integer(0, 99));
      // The golden is rounded to six decimal places.
      EXPECT_NEAR(result.segments[i].score, expected[2].Number(0, 1), 2e-6);
      EXPECT_EQ(result.segments[i].area, std::ranges::count(result.ids, result.segments[i].id));
    }
    ASSERT_EQ(result.ids.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(result.ids[i], ids[i].Integer(0, 99)) << i;
  }
}

TEST(Segments, ConvertToCocosImageFormat) {
  const Image image = ImageOfIds({1, 2, {513, 65536}, {}});
  EXPECT_THAT(image.pixels, testing::ElementsAre(1, 2, 0, 0, 0, 1));
  EXPECT_EQ(image.width, 2);
}

TEST(Segments, RefuseMasksOfOtherSizes) {
  const std::vector<MaskedThing> things = {{0, 1, {1, 1, 1}}};
  EXPECT_THAT(ErrorOf([&] { SegmentsOf(things, {2, 2}, {4, 4}); }), testing::HasSubstr("a mask has 3 cells"));
  EXPECT_EQ(SegmentsOf({}, {}, {2, 3}).ids, std::vector<std::int32_t>(6, 0));
}

}  // namespace
}  // namespace headlight::segments_test

#include "headlight/inspect/relevance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"
#include "headlight/models/family.h"

namespace headlight::relevance_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/clip/";
const std::vector<std::int32_t> kText = {28, 5, 9, 29};

ImageProcessor Plain() {
  ImageProcessor processor;
  processor.scale = 1.0 / 255;
  return processor;
}

TEST(Relevance, IsARecordOfTheTextOverTheImage) {
  const auto model = LoadModel<DualEncoder>(kFolders + "clip");
  // In an image of 9 x 14 pixels, the last row and two columns do not fill a patch.
  const AttentionRecord record = RelevanceOf(*model, Plain(), Pattern(14, 9), kText, "a dog");
  CheckAttention(record);
  EXPECT_THAT(record.target_tokens, ElementsAre("a dog"));
  EXPECT_THAT(record.source_tokens, ElementsAre("class token", "1·1", "1·2", "1·3", "2·1", "2·2", "2·3"));
  EXPECT_THAT(record.source_special, ElementsAre(0));
  EXPECT_EQ(record.source_image->image.width, 12);
  ASSERT_EQ(record.maps.size(), 2U);
  for (int layer = 0; layer < 2; ++layer) {
    const AttentionMap& map = record.maps[static_cast<std::size_t>(layer)];
    EXPECT_TRUE(map.relevance);
    EXPECT_EQ(map.layer, layer);
    EXPECT_EQ(MapTitle(map), "Relevance");
    EXPECT_NEAR(std::accumulate(map.weights.begin(), map.weights.end(), 0.0), 1, 1e-5);
  }
  EXPECT_NE(record.maps[0].weights, record.maps[1].weights);
  EXPECT_NE(RelevanceOf(*model, Plain(), Pattern(14, 9), {{28, 6, 29}}, "a dog").maps[0].weights,
            record.maps[0].weights);
}

// Checks that the model's gradients do not change, since only activations have a gradient.
TEST(Relevance, DoesNotChangeTheModel) {
  const auto model = LoadModel<DualEncoder>(kFolders + "siglip");
  const Tensor image = Tensor::Zeros({8, 8, 3});
  const std::vector<std::int32_t> text(9, 1);
  const auto first = TokenRelevance(*model, image, text);
  EXPECT_EQ(TokenRelevance(*model, image, text), first);
  for (const Parameter& parameter : model->parameters().all()) EXPECT_TRUE(parameter.gradient.empty());
}

TEST(Relevance, RefusesOneTowerAndTooManyTokens) {
  const auto texts = LoadModel<DualEncoder>(kFolders + "clip_text"),
             images = LoadModel<DualEncoder>(kFolders + "clip_vision");
  const auto refusal = [&](const DualEncoder& model, std::int64_t side) {
    return ErrorOf([&] { RelevanceOf(model, Plain(), Pattern(side, side), kText, ""); });
  };
  EXPECT_THAT(refusal(*texts, 8), HasSubstr("no tower for images"));
  EXPECT_THAT(refusal(*images, 8), HasSubstr("no tower for texts"));
  const auto clip = LoadModel<DualEncoder>(kFolders + "clip");
  EXPECT_THAT(refusal(*clip, 400), HasSubstr("image of 10001 tokens"));
  EXPECT_THAT(refusal(*clip, 3), HasSubstr("smaller than a patch"));
}

}  // namespace
}  // namespace headlight::relevance_test

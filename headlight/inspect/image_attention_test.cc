#include "headlight/inspect/image_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"

namespace headlight::image_attention_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An encoder whose heads attend to the next token, independently of the pixels.
struct FakeEncoder : ImageEncoder {
  FakeEncoder() : ImageEncoder(DType::float32) { limits_ = {{4, 6}, {2, 2}, 3, 2, 4}; }
  EncodedImages Encode(Context& context, std::span<const Tensor> images, std::span<const std::uint8_t>) const override {
    const std::int64_t tokens = 2 + GridOf(images[0], limits_.patch).cells();
    for (int layer = 0; layer < 3; ++layer) {
      Tensor weights = Tensor::Zeros({1, 2, tokens, tokens});
      for (std::int64_t row = 0; row < 2 * tokens; ++row) weights.data<float>()[row * tokens + (row + 1) % tokens] = 1;
      context.hooks.attention({AttentionKind::encoder_self, layer, 0, weights});
    }
    return {};
  }
  Tensor Pool(Context&, const EncodedImages&) const override { return {}; }
  Tensor ClassLogits(Context&, const EncodedImages&) const override { return {}; }
  Tensor Pixels(Context&, const EncodedImages&) const override { return {}; }
  Json::Object Description() const override { return {}; }
  void Save(const std::string&, Compute) const override {}
};

TEST(AttentionOfAnImage, NamesTokensAndKeepsThePixelsThatWereRead) {
  // 5 x 7 pixels: the last row and column are not part of a patch.
  const Image image = Pattern(7, 5);
  const AttentionRecord record = AttentionOf(FakeEncoder(), ImageProcessor(), image);
  CheckAttention(record);
  EXPECT_THAT(record.source_tokens,
              ElementsAre("class token", "special token 2", "1·1", "1·2", "1·3", "2·1", "2·2", "2·3"));
  EXPECT_THAT(record.source_special, ElementsAre(0, 1));
  EXPECT_EQ(record.maps.size(), 3U);
  ASSERT_TRUE(record.source_image.has_value());
  const ImageTokens& cells = *record.source_image;
  EXPECT_THAT((std::vector<int>{cells.first, cells.rows, cells.columns}), ElementsAre(2, 2, 3));
  EXPECT_EQ(cells.image.height, 4);
  EXPECT_EQ(cells.image.width, 6);
  EXPECT_TRUE(std::equal(cells.image.row(3), cells.image.row(3) + 18, image.row(3)));
  const std::vector<float> weights = CellWeights(record.maps[1], 1, 3, cells);  // token 3 attends to token 4
  EXPECT_THAT(weights, ElementsAre(0, 0, 1, 0, 0, 0));
}

// A detector with a map of 2 x 3 cells and four queries. The second and the fourth query detect an object. In layer l,
// query q attends to the cell (l + q) % 6.
struct FakeDetector : DetectionModel {
  FakeDetector() : DetectionModel(DType::float32) {
    limits_ = {.queries = 4};
    labels_ = {"cat", "dog"};
  }
  DetectedImages Detect(Context& context, std::span<const Tensor>, std::span<const PixelMask>, bool) const override {
    for (int layer = 0; layer < 2; ++layer) {
      const Tensor cells = Tensor::Zeros({1, 2, 6, 6}), queries = Tensor::Zeros({1, 2, 4, 6});
      for (std::int64_t row = 0; row < 12; ++row) cells.data<float>()[row * 6 + (layer + row) % 6] = 1;
      for (std::int64_t row = 0; row < 8; ++row) queries.data<float>()[row * 6 + (layer + row % 4) % 6] = 1;
      context.hooks.attention({AttentionKind::encoder_self, layer, 0, cells});
      context.hooks.attention({AttentionKind::decoder_self, layer, 0, Tensor::Zeros({1, 2, 4, 4})});
      const Tensor of_queries =  // [4 queries, 2 heads of size 1]
          Tensor::From({0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 7.0F}, {4, 2});
      context.hooks.attention({AttentionKind::cross, layer, 0, queries, of_queries, Tensor::Zeros({6, 2})});
    }
    DetectedImages found;
    found.layers.push_back(
        {Tensor::From({0.0F, 0.0F, 9.0F, 1.0F, 0.0F, -9.0F, 0.0F, 0.0F, 9.0F, 0.0F, 2.0F, -9.0F}, {4, 3}),
         Tensor::From({0.5F, 0.5F, 0.2F, 0.4F, 0.5F, 0.5F, 1.0F, 0.5F, 0.5F, 0.5F, 0.2F, 0.2F, 0.25F, 0.5F, 0.5F, 1.0F},
                      {4, 4})});
    found.grids = {{2, 3}};
    return found;
  }
  ops::FeatureMaps Masks(Context&, const DetectedImages&, std::span<const std::int32_t>) const override { return {}; }
  QueryAnswers Answer(Context&, const Tensor&) const override { return {}; }
  const DetectionLossOptions& loss() const override { return loss_; }
  void Save(const std::string&, Compute) const override {}
  DetectionLossOptions loss_;
};

TEST(AttentionOfAnImage, OfADetectorHasARowForEachBox) {
  const AttentionRecord record = AttentionOf(FakeDetector(), ImageProcessor(), Pattern(60, 40));
  CheckAttention(record);
  EXPECT_THAT(record.target_tokens, ElementsAre("dog 0.88", "cat 0.73"));  // the highest score first
  EXPECT_THAT(record.target_boxes, ElementsAre(Box{0, 0, 30, 40}, Box{0, 10, 60, 30}));
  EXPECT_EQ(record.source_tokens.size(), 6U);
  ASSERT_EQ(record.maps.size(), 4U);
  EXPECT_EQ(record.maps[0].kind, AttentionKind::cross);
  EXPECT_EQ(record.maps[0].queries, 2);
  EXPECT_THAT(record.maps[0].elements->query, ElementsAre(6, 2, 7, 3));
  for (const int head : {0, 1}) {
    EXPECT_THAT(CellWeights(record.maps[0], head, 0, *record.source_image), ElementsAre(0, 0, 0, 1, 0, 0));
    EXPECT_THAT(CellWeights(record.maps[0], head, 1, *record.source_image), ElementsAre(0, 1, 0, 0, 0, 0));
    EXPECT_THAT(CellWeights(record.maps[1], head, 1, *record.source_image), ElementsAre(0, 0, 1, 0, 0, 0));
  }
  EXPECT_EQ(record.maps[2].kind, AttentionKind::encoder_self);
  const AttentionRecord sure =
      AttentionOf(FakeDetector(), ImageProcessor(), Pattern(60, 40), {.threshold = 0.8, .layer = 1});
  EXPECT_THAT(sure.target_tokens, ElementsAre("dog 0.88"));
  EXPECT_EQ(sure.maps.size(), 2U);
  EXPECT_THAT(ErrorOf([&] {
                AttentionOf(FakeDetector(), ImageProcessor(), Pattern(60, 40), {.threshold = 0.99, .encoder = false});
              }),
              HasSubstr("no object is"));
}

// An encoder with two co-attention layers of two heads. In layer l a word attends to region l, and a region to word l.
struct FakeRegionEncoder : RegionTextEncoder {
  FakeRegionEncoder() : RegionTextEncoder(DType::float32) {
    limits_ = {.positions = 9, .features = 12, .box_numbers = 5, .tasks = 2};
  }
  const TensorNames& tensor_names() const override {
    static constexpr TensorNames none;
    return none;
  }
  EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t>,
                      const Sequences&, const Regions& regions, std::span<const std::int32_t>) const override {
    const std::int64_t words = std::ssize(ids) + 1, seen = regions.features.rows();  // including the task token
    for (int layer = 0; layer < 2; ++layer)
      for (const bool to_text : {false, true}) {
        const std::int64_t queries = to_text ? seen : words, keys = to_text ? words : seen;
        const Tensor weights = Tensor::Zeros({1, 2, queries, keys});
        for (std::int64_t row = 0; row < 2 * queries; ++row) weights.data<float>()[row * keys + layer] = 1;
        context.hooks.attention({AttentionKind::encoder_self, layer, 0, Tensor::Zeros({1, 2, words, words})});
        context.hooks.attention(
            {to_text ? AttentionKind::image_to_text : AttentionKind::text_to_image, layer, 0, weights});
      }
    return {};
  }
  Tensor Pool(Context&, const EncodedPairs&) const override { return {}; }
  Tensor RegionLogits(Context&, const Tensor&) const override { return {}; }
  Tensor AlignmentLogits(Context&, const Tensor&) const override { return {}; }
  Tensor AnswerLogits(Context&, const Tensor&) const override { return {}; }
  std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>&) const override { return {}; }
  void Save(const std::string&, Compute) const override {}
};

TEST(AttentionOfAnImage, OfRegionsAndWords) {
  const RegionLook look{
      .ids = {1, 2, 3},
      .types = {0, 0, 0},
      .labels = {"[CLS]", "dog", "[SEP]"},
      .special = {0, 2},
      .boxes = {{{1, 2, 30, 20}, "dog 0.97"}, {{90, 0, 95, 9}, "beside"}, {{30, 0, 80, 40}, "cat 0.60"}}};
  const AttentionRecord record = AttentionOf(FakeRegionEncoder(), 2, Pattern(80, 40), look);
  CheckAttention(record);
  EXPECT_THAT(record.source_tokens, ElementsAre("whole image", "dog 0.97", "cat 0.60"));
  EXPECT_THAT(record.target_tokens, ElementsAre("[CLS]", "task", "dog", "[SEP]"));
  EXPECT_THAT(record.target_special, ElementsAre(0, 3, 1));
  const ImageTokens& regions = *record.source_image;
  EXPECT_THAT(regions.boxes, ElementsAre(Box{0, 0, 80, 40}, Box{1, 2, 30, 20}, Box{30, 0, 80, 40}));
  EXPECT_EQ(std::pair(regions.rows, regions.columns), std::pair(32, 64));
  ASSERT_EQ(record.maps.size(), 4U);
  EXPECT_EQ(record.maps[0].kind, AttentionKind::text_to_image);
  EXPECT_EQ(record.maps[1].kind, AttentionKind::text_to_image);
  EXPECT_EQ(record.maps[1].at(1, 2, 1), 1);
  EXPECT_EQ(record.maps[3].kind, AttentionKind::image_to_text);
  EXPECT_EQ(record.maps[3].queries, 3);
  EXPECT_EQ(record.maps[3].at(0, 2, 1), 1);
  RegionLook one = look;
  one.layer = 1;
  EXPECT_EQ(AttentionOf(FakeRegionEncoder(), 2, Pattern(80, 40), one).maps.size(), 2U);
  one.layer = 2;
  EXPECT_THAT(ErrorOf([&] { AttentionOf(FakeRegionEncoder(), 2, Pattern(80, 40), one); }),
              HasSubstr("layer 3: the model"));
}

// A model with one layer, in which each token attends to the previous token.
struct FakeGenerator : LanguageModel {
  FakeGenerator() : LanguageModel(DType::float32) { limits_.positions = 6; }
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences&) const override {
    read.assign(ids.begin(), ids.end());
    const std::int64_t tokens = std::ssize(ids);
    Tensor weights = Tensor::Zeros({1, 1, tokens, tokens});
    for (std::int64_t row = 0; row < tokens; ++row)
      weights.data<float>()[row * tokens + std::max<std::int64_t>(0, row - 1)] = 1;
    context.hooks.attention({AttentionKind::decoder_self, 0, 0, weights});
    return {};
  }
  void Save(const std::string&, Compute) const override {}
  mutable std::vector<std::int32_t> read;
};

TEST(AttentionOfAnImage, OfColorsOmitsTheLastPixel) {
  ImageProcessor processor;
  processor.scale = 2.0 / 255;
  processor.mean = {1, 1, 1};
  processor.clusters = {{-1, -1, -1}, {1, 1, 0}};
  Image image{2, 3};
  for (const int bright : {1, 0, 0, 1, 1, 0})
    for (int channel = 0; channel < 3; ++channel) image.pixels.push_back(static_cast<std::uint8_t>(bright * 250));
  const FakeGenerator model;
  const AttentionRecord record = AttentionOf(model, 7, processor, image);
  CheckAttention(record);
  EXPECT_THAT(model.read, ElementsAre(7, 1, 0, 0, 1, 1));
  EXPECT_THAT(record.target_tokens, ElementsAre("start", "1·1", "1·2", "1·3", "2·1", "2·2"));
  ASSERT_TRUE(record.target_image.has_value());
  const std::vector<std::uint8_t>& pixels = record.target_image->image.pixels;
  EXPECT_THAT(std::vector<std::uint8_t>(pixels.begin(), pixels.begin() + 6), ElementsAre(255, 255, 128, 0, 0, 0));
  EXPECT_THAT(CellWeights(record.maps[0], 0, 5, *record.target_image), ElementsAre(0, 0, 0, 1, 0, 0));

  EXPECT_THAT(ErrorOf([&] { AttentionOf(model, 7, ImageProcessor(), image); }), HasSubstr("has no clusters"));
  image = Pattern(4, 2);
  EXPECT_THAT(ErrorOf([&] { AttentionOf(model, 7, processor, image); }), HasSubstr("the model reads 6"));
}

TEST(AttentionOfAnImage, OfOneLayer) {
  const AttentionRecord record = AttentionOf(FakeEncoder(), ImageProcessor(), Pattern(4, 4), 2);
  ASSERT_EQ(record.maps.size(), 1U);
  EXPECT_EQ(record.maps[0].layer, 2);
  EXPECT_THAT(ErrorOf([] { AttentionOf(FakeEncoder(), ImageProcessor(), Pattern(4, 4), 3); }), HasSubstr("layer 4:"));
}

TEST(AttentionOfAnImage, RefusesTooManyWeightsBeforeComputingThem) {
  EXPECT_THAT(ErrorOf([] { AttentionOf(FakeEncoder(), ImageProcessor(), Pattern(400, 400)); }),
              HasSubstr("40002 tokens has more than"));
  // For 4002 tokens, two heads of one layer are within the limit, but two layers of two heads are not.
  EXPECT_THAT(ErrorOf([] { AttentionOf(FakeEncoder(), ImageProcessor(), Pattern(80, 200)); }),
              HasSubstr("2 layers of 2 heads"));
}

TEST(CellsOfMass, KeepsTheLargestWeightsOfTheShare) {
  const std::vector<float> weights = {0.1f, 0.4f, 0.2f, 0.3f};
  const auto in = [&](double mass) { return CellsOfMass(weights, mass); };
  EXPECT_THAT(in(0.35), ElementsAre(false, true, false, false));
  EXPECT_THAT(in(0.6), ElementsAre(false, true, false, true));
  EXPECT_THAT(in(0.75), ElementsAre(false, true, true, true));
  EXPECT_THAT(in(1), ElementsAre(true, true, true, true));
  EXPECT_THAT(CellsOfMass(std::vector<float>{0, 0}, 0.6), ElementsAre(false, false));
}

}  // namespace
}  // namespace headlight::image_attention_test

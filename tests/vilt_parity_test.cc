// Compares ViLT with Transformers. tools/make_vilt_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/models/vilt.h"
#include "tests/pair_parity_testing.h"

namespace headlight::vilt_parity_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/vilt/" + name; }

// Returns the images [height, width, channels] of a golden, without padding.
std::vector<Tensor> WholeImagesOf(const Safetensors& golden) {
  const Tensor all = golden.Read("pixel_values", DType::float32), mask = golden.Read("pixel_mask", DType::int32);
  const std::int64_t channels = all.shape()[1], rows = all.shape()[2], columns = all.shape()[3];
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < all.shape()[0]; ++i) {
    const std::int32_t* const seen = mask.data<std::int32_t>() + i * rows * columns;
    std::int64_t height = 0, width = 0;
    while (height < rows && seen[height * columns] != 0) ++height;
    while (width < columns && seen[width] != 0) ++width;
    const Tensor& image = images.emplace_back(Tensor::Empty({height, width, channels}));
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t channel = 0; channel < channels; ++channel)
          image.data<float>()[(y * width + x) * channels + channel] =
              all.data<float>()[((i * channels + channel) * rows + y) * columns + x];
  }
  return images;
}

struct Golden : PairGolden {
  Golden(const std::string& folder, DType dtype) : PairGolden(folder) {
    inputs.insert({"pixel_values", "pixel_mask"});
    regions = PatchRegions(WholeImagesOf(file), {4, 4}, 3, dtype);
    for (const Sequence& image : regions.images) region_lengths.push_back(image.length + 1);  // adds the class token
    region_length = *std::ranges::max_element(region_lengths);
  }
};

std::vector<PairOutput> OutputsOf(const Vilt& model, Context& context, const EncodedPairs& encoded) {
  std::vector<PairOutput> outputs = {{"last_hidden_state", JoinPairs(encoded).rows, RowsOf::both}};
  const Tensor pooled = model.Pool(context, encoded);
  if (!model.pair_heads().answers) outputs.push_back({"pooler_output", pooled});
  if (model.heads().masked_words)
    outputs.push_back({"logits", model.MaskedTokenLogits(context, encoded.text), RowsOf::texts});
  if (model.pair_heads().answers) outputs.push_back({"logits", model.AnswerLogits(context, pooled)});
  if (model.config().task == ViltTask::ranking) outputs.push_back({"logits", model.RankScores(context, pooled)});
  return outputs;
}

class ViltParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, ViltParity,
                         testing::Combine(testing::Values("encoder", "masked_words", "answers", "ranking"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(ViltParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const Golden golden(FolderOf(name), dtype);
  CompareInBothTypes<Vilt>(FolderOf(name), dtype, [&](Vilt& model, double tolerance) {
    ComparePairs(
        model, golden, tolerance,
        [&](Context& context, const EncodedPairs& encoded) { return OutputsOf(model, context, encoded); },
        [](AttentionKind) {
          return PairAttention{"attentions", RowsOf::both, RowsOf::both};
        });
  });
}

TEST_P(ViltParity, SavesAndLoads) { ExpectRoundTrip(FolderOf(std::get<0>(GetParam()))); }

TEST(Vilt, IsBatchInvariant) {
  ExpectBatchInvariant(*LoadModel<Vilt>(FolderOf("answers"), {.purpose = LoadFor::computing}),
                       Golden(FolderOf("answers"), DType::float32));
}

TEST(Vilt, AcceptsOtherAnswers) {
  const std::unique_ptr<const RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf("masked_words"));
  const std::unique_ptr<RegionTextEncoder> answering = AddAnswers(*model, {"yes", "no", "red"}, 1);
  const Golden golden(FolderOf("masked_words"), DType::float32);
  Context context;
  const EncodedPairs encoded = answering->Encode(context, golden.ids, golden.types, golden.texts, golden.regions);
  EXPECT_LT(Deviation(ToDouble(JoinPairs(encoded).rows), golden.Expected("last_hidden_state", RowsOf::both)), 5e-5);
  EXPECT_EQ(answering->AnswerLogits(context, answering->Pool(context, encoded)).shape(), (Shape{2, 3}));
  EXPECT_THAT(ErrorOf([&] { model->AnswerLogits(context, encoded.text); }), HasSubstr("no head for answers"));
  EXPECT_THAT(ErrorOf([&] { model->AlignmentLogits(context, encoded.text); }), HasSubstr("no head for alignment"));
  EXPECT_THAT(ErrorOf([&] { model->RegionLogits(context, encoded.text); }), HasSubstr("no head for regions"));
}

TEST(Vilt, RefusesUnsupportedInput) {
  const std::unique_ptr<const Vilt> model = LoadModel<Vilt>(FolderOf("encoder"));
  Context context;
  const std::vector<std::int32_t> ids = {2, 3, 4};
  const Regions good = PatchRegions(std::vector{Tensor::Zeros({8, 13, 3})}, {4, 4}, 3);
  EXPECT_EQ(good.boxes.ToVector<float>(),
            (std::vector<float>{0, 0, 2, 3, 0, 1, 2, 3, 0, 2, 2, 3, 1, 0, 2, 3, 1, 1, 2, 3, 1, 2, 2, 3}));
  const auto encode = [&](const std::vector<float>& boxes, std::int32_t count = 6) {
    const Regions regions = {good.features.ViewRows(0, count).Clone(),
                             Tensor::From(std::span<const float>(boxes), {count, 4}),
                             {{0, count}}};
    return ErrorOf([&] { model->Encode(context, ids, {}, {{0, 3}}, regions); });
  };
  EXPECT_EQ(encode(good.boxes.ToVector<float>()), "");
  EXPECT_EQ(encode({0, 0, 1, 2, 0, 1, 1, 2}, 2), "");
  EXPECT_THAT(encode({0, 0, 1, 2, 0, 1, 1, 3}, 2), HasSubstr("patch 1 of an image"));
  EXPECT_THAT(encode({0, 1, 1, 2, 0, 0, 1, 2}, 2), HasSubstr("patch 0 of an image"));
  EXPECT_THAT(encode({0, 0, 2, 2, 0, 1, 2, 2}, 2), HasSubstr("an image of 2 patches"));
  EXPECT_THAT(encode({0, 0, 1e30F, 1e30F, 0, 0, 1e30F, 1e30F}, 2), HasSubstr("an image of 2 patches"));
  EXPECT_THAT(encode({0, 0, NAN, 2, 0, 1, NAN, 2}, 2), HasSubstr("an image of 2 patches"));
  EXPECT_THAT(encode({0, 0, 0, 0, 0, 1, 0, 0}, 2), HasSubstr("an image of 2 patches"));
  EXPECT_THAT(ErrorOf([&] {
                PatchRegions(std::vector{Tensor::Zeros({3, 13, 3})}, {4, 4}, 3);
              }),
              HasSubstr("smaller than a patch"));

  const auto refusal = [](const char* from, const char* to) { return ErrorWith<Vilt>(FolderOf("answers"), from, to); };
  EXPECT_EQ(refusal("{", "{"), "");
  EXPECT_EQ(refusal("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"), "");  // as in published files
  EXPECT_THAT(refusal("\"max_image_length\": -1", "\"max_image_length\": 200"), HasSubstr("randomly selected"));
  EXPECT_THAT(refusal("\"num_images\": -1", "\"num_images\": 2"), HasSubstr("several images with one text"));
  EXPECT_THAT(refusal("\"modality_type_vocab_size\": 2", "\"modality_type_vocab_size\": 1"),
              HasSubstr("two modalities"));
  EXPECT_THAT(refusal("\"image_size\": 12", "\"image_size\": [12, 16]"), HasSubstr("must be squares"));
  EXPECT_THAT(refusal("\"image_size\": 12", "\"image_size\": 16"), HasSubstr("position_embeddings"));
}

}  // namespace
}  // namespace headlight::vilt_parity_test

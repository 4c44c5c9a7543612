// Compares VisualBERT with Transformers. tools/make_visual_bert_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/models/visual_bert.h"
#include "tests/pair_parity_testing.h"

namespace headlight::visual_bert_parity_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/visual_bert/" + name; }

struct Golden : PairGolden {
  Golden(const std::string& folder, DType dtype)
      : PairGolden(folder, dtype, "visual_embeds", nullptr, "visual_attention_mask") {}
};

std::vector<PairOutput> OutputsOf(const VisualBert& model, Context& context, const EncodedPairs& encoded) {
  std::vector<PairOutput> outputs = {{"last_hidden_state", JoinPairs(encoded).rows, RowsOf::both}};
  const Tensor pooled = model.Pool(context, encoded);
  if (!model.pair_heads().answers) outputs.push_back({"pooler_output", pooled});
  if (model.pair_heads().alignment) {
    const EncodedPairs words = {model.MaskedTokenLogits(context, encoded.text),
                                model.MaskedTokenLogits(context, encoded.regions), encoded.texts, encoded.images};
    outputs.push_back({"prediction_logits", JoinPairs(words).rows, RowsOf::both});
    outputs.push_back({"seq_relationship_logits", model.AlignmentLogits(context, pooled)});
  }
  if (model.pair_heads().answers) outputs.push_back({"logits", model.AnswerLogits(context, pooled)});
  return outputs;
}

class VisualBertParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, VisualBertParity,
                         testing::Combine(testing::Values("encoder", "pretraining", "answers", "reasoning"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(VisualBertParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const Golden golden(FolderOf(name), dtype);
  CompareInBothTypes<VisualBert>(FolderOf(name), dtype, [&](VisualBert& model, double tolerance) {
    ComparePairs(
        model, golden, tolerance,
        [&](Context& context, const EncodedPairs& encoded) { return OutputsOf(model, context, encoded); },
        [](AttentionKind) {
          return PairAttention{"attentions", RowsOf::both, RowsOf::both};
        });
  });
}

TEST_P(VisualBertParity, SavesAndLoads) { ExpectRoundTrip(FolderOf(std::get<0>(GetParam()))); }

TEST(VisualBert, IsBatchInvariant) {
  for (const char* name : {"encoder", "answers"})
    ExpectBatchInvariant(*LoadModel<VisualBert>(FolderOf(name), {.purpose = LoadFor::computing}),
                         Golden(FolderOf(name), DType::float32));
}

TEST(VisualBert, AcceptsOtherAnswers) {
  const std::unique_ptr<const RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf("pretraining"));
  const std::unique_ptr<RegionTextEncoder> answering = AddAnswers(*model, {"yes", "no", "red"}, 1);
  EXPECT_FALSE(answering->heads().masked_words);
  const Golden golden(FolderOf("pretraining"), DType::float32);
  Context context;
  const EncodedPairs encoded = answering->Encode(context, golden.ids, golden.types, golden.texts, golden.regions);
  EXPECT_LT(Deviation(ToDouble(JoinPairs(encoded).rows), golden.Expected("last_hidden_state", RowsOf::both)), 5e-5);
  EXPECT_EQ(answering->AnswerLogits(context, answering->Pool(context, encoded)).shape(), (Shape{2, 3}));
  EXPECT_THAT(ErrorOf([&] { model->AnswerLogits(context, encoded.text); }), HasSubstr("no head for answers"));
  EXPECT_THAT(ErrorOf([&] { answering->AlignmentLogits(context, encoded.text); }), HasSubstr("no head for alignment"));
  EXPECT_THAT(ErrorOf([&] { model->RegionLogits(context, encoded.regions); }), HasSubstr("no head for regions"));
  // The encoder is also kept if the parameter names in the folder have no prefix.
  const auto encoder = LoadModel<RegionTextEncoder>(FolderOf("encoder"));
  EXPECT_EQ(AddAnswers(*encoder, {"yes"}, 1)->labels(), (std::vector<std::string>{"yes"}));
}

TEST(VisualBert, RefusesUnsupportedInput) {
  const std::unique_ptr<const VisualBert> model = LoadModel<VisualBert>(FolderOf("answers"));
  Context context;
  const std::vector<std::int32_t> ids = {2, 3, 4};
  const auto encode = [&](const Sequences& texts, const Regions& regions, std::vector<std::int32_t> tasks = {}) {
    return ErrorOf([&] { model->Pool(context, model->Encode(context, ids, {}, texts, regions, tasks)); });
  };
  const Regions good = {Tensor::Zeros({2, 12}), Tensor::Zeros({2, 0}), {{0, 2}}};
  EXPECT_EQ(encode({{0, 3}}, good), "");
  EXPECT_THAT(encode({{0, 2}, {2, 1}}, good), HasSubstr("2 texts and 1 images"));
  EXPECT_THAT(encode({{0, 3}}, {good.features, Tensor::Zeros({2, 5}), good.images}), HasSubstr("be [regions, 0]"));
  EXPECT_THAT(encode({{0, 3}}, good, {1}), HasSubstr("no tokens for tasks"));
  EXPECT_THAT(encode({{0, 2}, {2, 1}}, {good.features, good.boxes, {{0, 1}, {1, 1}}}),
              HasSubstr("at least two tokens"));

  const auto refusal = [](const char* from, const char* to) {
    return ErrorWith<VisualBert>(FolderOf("answers"), from, to);
  };
  EXPECT_EQ(refusal("{", "{"), "");
  EXPECT_THAT(refusal("\"bypass_transformer\": false", "\"bypass_transformer\": true"),
              HasSubstr("bypass the Transformer"));
  EXPECT_THAT(refusal("\"type_vocab_size\": 2", "\"type_vocab_size\": 1"), HasSubstr("two segment types"));
  EXPECT_THAT(refusal("VisualBertForQuestionAnswering", "VisualBertForMultipleChoice"),
              HasSubstr("VisualBertForQuestionAnswering or of"));
  EXPECT_THAT(refusal("\"visual_embedding_dim\"", "\"alibi\""), HasSubstr("alibi"));
}

}  // namespace
}  // namespace headlight::visual_bert_parity_test

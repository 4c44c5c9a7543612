// Compares LXMERT with Transformers. tools/make_lxmert_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/models/lxmert.h"
#include "tests/pair_parity_testing.h"

namespace headlight::lxmert_parity_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/lxmert/" + name; }

struct Golden : PairGolden {
  Golden(const std::string& folder, DType dtype)
      : PairGolden(folder, dtype, "visual_feats", "visual_pos", "visual_attention_mask") {}
};

std::vector<PairOutput> OutputsOf(const Lxmert& model, Context& context, const EncodedPairs& encoded) {
  std::vector<PairOutput> outputs = {{"language_output", encoded.text, RowsOf::texts},
                                     {"vision_output", encoded.regions, RowsOf::regions}};
  const Tensor pooled = model.Pool(context, encoded);
  if (!model.pair_heads().answers) outputs.push_back({"pooled_output", pooled});
  if (model.pair_heads().answers) outputs.push_back({"question_answering_score", model.AnswerLogits(context, pooled)});
  if (model.pair_heads().alignment) {
    outputs.push_back({"prediction_logits", model.MaskedTokenLogits(context, encoded.text), RowsOf::texts});
    outputs.push_back({"cross_relationship_score", model.AlignmentLogits(context, pooled)});
  }
  for (const auto& [name, logits] : model.RegionPredictions(context, encoded.regions))
    outputs.push_back({name, logits, RowsOf::regions});
  return outputs;
}

PairAttention AttentionOf(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return {"language_attentions", RowsOf::texts, RowsOf::texts};
    case AttentionKind::image_self:
      return {"vision_attentions", RowsOf::regions, RowsOf::regions};
    case AttentionKind::text_to_image:
      return {"cross_encoder_attentions", RowsOf::texts, RowsOf::regions};
    default:
      return {"vision_cross_attentions", RowsOf::regions, RowsOf::texts};
  }
}

class LxmertParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, LxmertParity,
                         testing::Combine(testing::Values("encoder", "pretraining", "answers", "objects"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(LxmertParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const Golden golden(FolderOf(name), dtype);
  CompareInBothTypes<Lxmert>(FolderOf(name), dtype, [&](Lxmert& model, double tolerance) {
    ComparePairs(
        model, golden, tolerance,
        [&](Context& context, const EncodedPairs& encoded) { return OutputsOf(model, context, encoded); }, AttentionOf);
  });
}

TEST_P(LxmertParity, SavesAndLoads) { ExpectRoundTrip(FolderOf(std::get<0>(GetParam()))); }

TEST(Lxmert, IsBatchInvariant) {
  for (const char* name : {"encoder", "answers"})
    ExpectBatchInvariant(*LoadModel<Lxmert>(FolderOf(name), {.purpose = LoadFor::computing}),
                         Golden(FolderOf(name), DType::float32));
}

TEST(Lxmert, AcceptsOtherAnswers) {
  const std::unique_ptr<const RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf("pretraining"));
  const std::unique_ptr<RegionTextEncoder> answering = AddAnswers(*model, {"yes", "no", "red"}, 1);
  EXPECT_FALSE(answering->heads().masked_words);
  const Golden golden(FolderOf("pretraining"), DType::float32);
  Context context;
  const EncodedPairs encoded = answering->Encode(context, golden.ids, golden.types, golden.texts, golden.regions);
  EXPECT_LT(Deviation(ToDouble(encoded.text), golden.Expected("language_output", RowsOf::texts)), 5e-5);
  EXPECT_EQ(answering->AnswerLogits(context, answering->Pool(context, encoded)).shape(), (Shape{2, 3}));
  EXPECT_THAT(ErrorOf([&] { LoadModel<Lxmert>(FolderOf("objects"))->AnswerLogits(context, encoded.text); }),
              HasSubstr("no head for answers"));
  EXPECT_THAT(ErrorOf([&] { answering->AlignmentLogits(context, encoded.text); }), HasSubstr("no head for alignment"));
  EXPECT_THAT(ErrorOf([&] { answering->RegionLogits(context, encoded.regions); }), HasSubstr("no head for regions"));
  // The encoder is also kept if the parameter names in the folder have no prefix.
  const auto encoder = LoadModel<RegionTextEncoder>(FolderOf("encoder"));
  EXPECT_EQ(AddAnswers(*encoder, {"yes"}, 1)->labels(), (std::vector<std::string>{"yes"}));
}

TEST(Lxmert, RefusesUnsupportedInput) {
  const std::unique_ptr<const Lxmert> model = LoadModel<Lxmert>(FolderOf("encoder"));
  Context context;
  const std::vector<std::int32_t> ids = {2, 3, 4};
  const auto encode = [&](const Sequences& texts, const Regions& regions, std::vector<std::int32_t> tasks = {}) {
    return ErrorOf([&] { model->Encode(context, ids, {}, texts, regions, tasks); });
  };
  const Regions good = {Tensor::Zeros({2, 7}), Tensor::Zeros({2, 4}), {{0, 2}}};
  EXPECT_EQ(encode({{0, 3}}, good), "");
  EXPECT_THAT(encode({{0, 3}}, {good.features, Tensor::Zeros({2, 5}), good.images}), HasSubstr("boxes of 2 regions"));
  EXPECT_THAT(encode({{0, 3}}, good, {1}), HasSubstr("no tokens for tasks"));

  const auto refusal = [](const char* name, const char* from, const char* to) {
    return ErrorWith<Lxmert>(FolderOf(name), from, to);
  };
  EXPECT_EQ(refusal("answers", "{", "{"), "");
  EXPECT_THAT(refusal("objects", "\"task_qa\": false", "\"task_qa\": true"), HasSubstr("task_qa must be true if"));
  EXPECT_THAT(refusal("pretraining", "\"task_qa\": true", "\"task_qa\": false"), HasSubstr("and false otherwise"));
  EXPECT_THAT(refusal("pretraining", "\"visual_attr_loss\": true", "\"visual_attr_loss\": false"),
              HasSubstr("obj_predict_head.decoder_dict.attr.bias"));
  EXPECT_THAT(refusal("objects", "\"visual_feat_loss\": false", "\"visual_feat_loss\": true"),
              HasSubstr("obj_predict_head.decoder_dict.feat.bias"));
  EXPECT_THAT(refusal("answers", "\"num_qa_labels\": 4", "\"num_qa_labels\": 5"), HasSubstr("answer_head.logit_fc.3"));
  EXPECT_THAT(refusal("answers", "\"num_qa_labels\": 4", "\"num_qa_labels\": 1073741824"), HasSubstr("num_qa_labels"));
  EXPECT_THAT(refusal("encoder", "\"r_layers\": 1", "\"r_layers\": 0"), HasSubstr("r_layers"));
  EXPECT_THAT(refusal("encoder", "\"visual_pos_dim\"", "\"alibi\""), HasSubstr("alibi"));
}

}  // namespace
}  // namespace headlight::lxmert_parity_test

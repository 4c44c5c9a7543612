// Compares ViLBERT with its authors' program. tools/make_vilbert_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/vilbert.h"
#include "tests/pair_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::vilbert_parity_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/vilbert/" + name; }

struct Golden : PairGolden {
  Golden(const std::string& folder, DType dtype)
      : PairGolden(folder, dtype, "image_feat", "image_loc", "image_attention_mask") {
    if (!file.contains("task_ids")) return;
    inputs.insert("task_ids");
    tasks = file.Read("task_ids", DType::int32).ToVector<std::int32_t>();
    for (std::int32_t& length : text_lengths) ++length;  // adds the task token
    ++text_length;
  }
};

std::vector<PairOutput> OutputsOf(const Vilbert& model, Context& context, const EncodedPairs& encoded) {
  std::vector<PairOutput> outputs = {
      {"sequence_output_t", encoded.text, RowsOf::texts},
      {"sequence_output_v", encoded.regions, RowsOf::regions},
      {"pooled_output_t", model.PoolText(context, encoded)},
      {"pooled_output_v", model.PoolImage(context, encoded)},
      {"prediction_scores_t", model.MaskedTokenLogits(context, encoded.text), RowsOf::texts},
      {"prediction_scores_v", model.RegionLogits(context, encoded.regions), RowsOf::regions}};
  const Tensor pooled = model.Pool(context, encoded);
  outputs.push_back({"seq_relationship_score", model.AlignmentLogits(context, pooled)});
  if (model.pair_heads().answers) outputs.push_back({"vil_prediction", model.AnswerLogits(context, pooled)});
  for (const auto& [name, logits] : model.TaskLogits(context, encoded, pooled))
    outputs.push_back({name, logits,
                       name == "vision_logit"      ? RowsOf::regions
                       : name == "linguisic_logit" ? RowsOf::texts
                                                   : RowsOf::pairs});
  return outputs;
}

PairAttention AttentionOf(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return {"attentions_t", RowsOf::texts, RowsOf::texts};
    case AttentionKind::image_self:
      return {"attentions_v", RowsOf::regions, RowsOf::regions};
    case AttentionKind::text_to_image:
      return {"attentions_tv", RowsOf::texts, RowsOf::regions};
    default:
      return {"attentions_vt", RowsOf::regions, RowsOf::texts};
  }
}

class VilbertParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, VilbertParity,
                         testing::Combine(testing::Values("pretraining", "tasks"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(VilbertParity, EqualsTheAuthorsProgram) {
  const auto& [name, dtype] = GetParam();
  const Golden golden(FolderOf(name), dtype);
  CompareInBothTypes<Vilbert>(FolderOf(name), dtype, [&](Vilbert& model, double tolerance) {
    ComparePairs(
        model, golden, tolerance,
        [&](Context& context, const EncodedPairs& encoded) { return OutputsOf(model, context, encoded); }, AttentionOf);
  });
}

TEST_P(VilbertParity, SavesAndLoads) {
  const std::unique_ptr<RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf(std::get<0>(GetParam())));
  const TemporaryFolder folder;
  SaveAndReload(*model, folder.path());
}

TEST(Vilbert, ComputesInEveryPrecision) {
  const std::string folder = FolderOf("tasks");
  const Golden golden(folder, DType::float32);
  for (const auto& [compute, tolerance] :
       {std::pair(Compute::float32, 5e-5), std::pair(Compute::bfloat16, 0.06), std::pair(Compute::int8, 0.12)}) {
    if (!kernels::CpuHas(compute)) continue;
    const std::unique_ptr<const Vilbert> model =
        LoadModel<Vilbert>(folder, {.compute = compute, .purpose = LoadFor::computing});
    Context context;
    const EncodedPairs encoded =
        model->Encode(context, golden.ids, golden.types, golden.texts, golden.regions, golden.tasks);
    EXPECT_LT(Deviation(ToDouble(encoded.text), golden.Expected("sequence_output_t", RowsOf::texts)), tolerance)
        << Name(compute);
    EXPECT_LT(Deviation(ToDouble(encoded.regions), golden.Expected("sequence_output_v", RowsOf::regions)), tolerance)
        << Name(compute);
  }
}

TEST(Vilbert, IsBatchInvariant) {
  const std::string folder = FolderOf("pretraining");
  ExpectBatchInvariant(*LoadModel<Vilbert>(folder, {.purpose = LoadFor::computing}), Golden(folder, DType::float32));
}

TEST(Vilbert, AcceptsOtherAnswers) {
  const std::unique_ptr<const RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf("pretraining"));
  const std::unique_ptr<RegionTextEncoder> answering = AddAnswers(*model, {"yes", "no", "red"}, 1);
  EXPECT_FALSE(answering->heads().masked_words);
  EXPECT_EQ(answering->labels(), (std::vector<std::string>{"yes", "no", "red"}));
  const Golden golden(FolderOf("pretraining"), DType::float32);
  Context context;
  const EncodedPairs encoded = answering->Encode(context, golden.ids, golden.types, golden.texts, golden.regions);
  EXPECT_LT(Deviation(ToDouble(encoded.text), golden.Expected("sequence_output_t", RowsOf::texts)), 5e-5);
  EXPECT_EQ(answering->AnswerLogits(context, answering->Pool(context, encoded)).shape(), (Shape{2, 3}));
  EXPECT_THAT(ErrorOf([&] { answering->RegionLogits(context, encoded.regions); }), HasSubstr("no head for regions"));
  EXPECT_THAT(ErrorOf([&] { model->AnswerLogits(context, encoded.text); }), HasSubstr("no head for answers"));
  // The same answers keep the head unchanged.
  const std::unique_ptr<RegionTextEncoder> same = AddAnswers(*answering, answering->labels(), 2);
  EXPECT_EQ(ByName(same->parameters(), &Parameter::value), ByName(answering->parameters(), &Parameter::value));
}

TEST(Vilbert, RefusesUnsupportedInput) {
  const std::unique_ptr<const Vilbert> model = LoadModel<Vilbert>(FolderOf("pretraining"));
  Context context;
  const std::vector<std::int32_t> ids = {1, 2, 3};
  const auto encode = [&](const Sequences& texts, const Regions& regions, std::vector<std::int32_t> tasks = {}) {
    return ErrorOf([&] { model->Encode(context, ids, {}, texts, regions, tasks); });
  };
  const Regions good = {Tensor::Zeros({2, 7}), Tensor::Zeros({2, 5}), {{0, 2}}};
  EXPECT_EQ(encode({{0, 3}}, good), "");
  EXPECT_THAT(encode({{0, 2}, {2, 1}}, good), HasSubstr("2 texts and 1 images"));
  EXPECT_THAT(encode({{0, 3}}, {Tensor::Zeros({2, 6}), good.boxes, good.images}),
              HasSubstr("[regions, 7], not [2, 6]"));
  EXPECT_THAT(encode({{0, 3}}, {good.features, Tensor::Zeros({2, 4}), good.images}), HasSubstr("boxes of 2 regions"));
  EXPECT_THAT(encode({{0, 3}}, {good.features, good.boxes, {{0, 0}}}), HasSubstr("an image is empty"));
  EXPECT_THAT(encode({{0, 3}}, good, {1}), HasSubstr("no tokens for tasks"));

  const TemporaryFolder folder;
  const auto config_error = [&](const std::string& from, const std::string& to) {
    std::string config = ReadFile(FolderOf("pretraining") + "/config.json");
    WriteFile(folder.File("config.json"), config.replace(config.find(from), from.size(), to));
    const JsonView json = ReadJson(folder.File("config.json"));
    return ErrorOf([&] {
      VilbertConfig read;
      ReadConfig(json, read);
    });
  };
  EXPECT_EQ(config_error("{", "{\"pooling_method\": \"mul\","), "");
  EXPECT_THAT(config_error("{", "{\"dynamic_attention\": true,"), HasSubstr("gated by the text"));
  EXPECT_THAT(config_error("{", "{\"with_coattention\": false,"), HasSubstr("without co-attention"));
  EXPECT_THAT(config_error("{", "{\"fusion_method\": \"max\","), HasSubstr("key 'fusion_method'"));
  EXPECT_THAT(config_error("{", "{\"v_kidden_size\": 3,"), HasSubstr("v_kidden_size"));
  EXPECT_THAT(config_error("\"bi_num_attention_heads\": 2", "\"bi_num_attention_heads\": 4"), HasSubstr("must divide"));
  EXPECT_THAT(config_error("\"v_biattention_id\": [\n    0,\n    1", "\"v_biattention_id\": [\n    1,\n    0"),
              HasSubstr("numbers of layers below 2"));
  EXPECT_THAT(config_error("\"v_biattention_id\": [\n    0,\n    1", "\"v_biattention_id\": [\n    0"),
              HasSubstr("not 2 and 1"));
  EXPECT_THAT(config_error("\"v_num_attention_heads\": 3", "\"v_num_attention_heads\": 5"),
              HasSubstr("the image's number of heads"));
}

}  // namespace
}  // namespace headlight::vilbert_parity_test

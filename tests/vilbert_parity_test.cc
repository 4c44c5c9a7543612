// ViLBERT against its authors' program: tools/make_vilbert_goldens.py describes the folders in testdata/vilbert.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/vilbert.h"
#include "headlight/ops/embedding.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/vilbert/" + name; }

// The rows that are 1 in a mask [pairs, length].
std::vector<std::int64_t> RowsOf(const Tensor& mask) {
  std::vector<std::int64_t> rows;
  const std::vector<std::int32_t> values = mask.ToVector<std::int32_t>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) rows.push_back(static_cast<std::int64_t>(i));
  return rows;
}

// The pairs of a golden without padding.
struct Golden : EncoderGolden {
  Golden(const std::string& folder, DType dtype) : EncoderGolden(folder) {
    const Tensor mask = file.Read("image_attention_mask", DType::int32);
    kept_regions = RowsOf(mask);
    std::vector<std::int32_t> rows(kept_regions.begin(), kept_regions.end());
    const auto packed = [&](const char* name) {
      const Tensor all = file.Read(name, dtype);
      return ops::Embedding(all.ViewAs({all.rows(), all.columns()}), rows);
    };
    regions = {packed("image_feat"), packed("image_loc"), {}};
    const std::vector<std::int32_t> seen = mask.ToVector<std::int32_t>();
    std::vector<std::int32_t> lengths;
    for (auto row = seen.begin(); row != seen.end(); row += mask.columns())
      lengths.push_back(static_cast<std::int32_t>(std::count(row, row + mask.columns(), 1)));
    regions.pictures = PackedSequences(lengths);
    if (file.contains("task_ids")) tasks = file.Read("task_ids", DType::int32).ToVector<std::int32_t>();
    // The token of a task stands behind the first of each text.
    const std::int64_t length = file.At("input_ids").shape[1];
    for (const std::int64_t row : kept) {
      const std::int64_t pair = row / length, token = row % length;
      const std::int64_t padded = tasks.empty() ? length : length + 1;
      kept_tokens.push_back(pair * padded + token + (tasks.empty() || token == 0 ? 0 : 1));
      if (!tasks.empty() && token == 0) kept_tokens.push_back(pair * padded + 1);
    }
  }

  Numbers Kept(const std::string& name, const std::vector<std::int64_t>& rows) const {
    const Tensor all = file.Read(name, DType::float64);
    Numbers numbers;
    for (const std::int64_t row : rows) {
      const double* const values = all.matrix<double>().row(row);
      numbers.insert(numbers.end(), values, values + all.columns());
    }
    return numbers;
  }
  // The golden of an output, without padding.
  Numbers Expected(const std::string& name) const {
    const bool of_text = name == "sequence_output_t" || name == "prediction_scores_t" || name == "linguisic_logit";
    const bool of_regions = name == "sequence_output_v" || name == "prediction_scores_v" || name == "vision_logit";
    return of_text ? Kept(name, kept_tokens) : of_regions ? Kept(name, kept_regions) : Read(name);
  }

  Regions regions;
  std::vector<std::int32_t> tasks;
  std::vector<std::int64_t> kept_tokens, kept_regions;
};

using Outputs = std::vector<std::pair<std::string, Tensor>>;

Outputs OutputsOf(const Vilbert& model, Context& context, const EncodedPairs& encoded) {
  Outputs outputs = {{"sequence_output_t", encoded.text},
                     {"sequence_output_v", encoded.regions},
                     {"pooled_output_t", model.PoolText(context, encoded)},
                     {"pooled_output_v", model.PoolPicture(context, encoded)},
                     {"prediction_scores_t", model.MaskedWordLogits(context, encoded.text)},
                     {"prediction_scores_v", model.RegionLogits(context, encoded.regions)}};
  const Tensor pooled = model.Pool(context, encoded);
  outputs.emplace_back("seq_relationship_score", model.AlignmentLogits(context, pooled));
  if (model.pair_heads().answers) outputs.emplace_back("vil_prediction", model.AnswerLogits(context, pooled));
  for (auto& output : model.TaskLogits(context, encoded, pooled)) outputs.push_back(std::move(output));
  return outputs;
}

// The attention of all pairs, without padding.
Numbers ExpectedAttention(const Golden& golden, const std::string& name, std::int32_t pair, const Shape& shape) {
  const Tensor all = golden.file.Read(name, DType::float64);
  const std::int64_t heads = all.shape()[1], queries = all.shape()[2];
  Numbers numbers;
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t query = 0; query < shape[2]; ++query) {
      const double* const row = all.matrix<double>().row((pair * heads + head) * queries + query);
      numbers.insert(numbers.end(), row, row + shape[3]);
    }
  return numbers;
}

void CompareWithGolden(Vilbert& model, const Golden& golden, double tolerance) {
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  std::map<std::string, int> attentions;
  context.sink = [&](const LayerAttention& seen) {
    const char* const kind = seen.kind == AttentionKind::encoder_self      ? "t"
                             : seen.kind == AttentionKind::picture_self    ? "v"
                             : seen.kind == AttentionKind::text_to_picture ? "tv"
                                                                           : "vt";
    const std::string name = fmt::format("attentions_{}.{}", kind, seen.layer);
    ++attentions[name];
    EXPECT_LT(Deviation(ToDouble(seen.weights), ExpectedAttention(golden, name, seen.sentence, seen.weights.shape())),
              tolerance)
        << name;
  };
  const EncodedPairs encoded =
      model.Encode(context, golden.ids, golden.types, golden.texts, golden.regions, golden.tasks);
  for (const auto& [name, tensor] : golden.file.tensors()) {
    if (!name.starts_with("attentions_")) continue;
    EXPECT_EQ(attentions[name], 2) << name;
  }
  EXPECT_EQ(attentions.size(), 3U + 2 + 2 + 2);

  Tensor loss = Tensor::Zeros({1}, model.parameters().dtype());
  int outputs = 0;
  for (const auto& [name, output] : OutputsOf(model, context, encoded)) {
    EXPECT_LT(Deviation(ToDouble(output), golden.Expected(name)), tolerance) << name;
    loss = ops::Add(loss, Weighed(output));
    ++outputs;
  }
  EXPECT_EQ(outputs, golden.tasks.empty() ? 7 : 14);
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read("loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file)), tolerance);
}

class VilbertParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, VilbertParity,
                         testing::Combine(testing::Values("pretraining", "tasks"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(VilbertParity, GivesWhatItsAuthorsProgramGives) {
  const auto& [name, dtype] = GetParam();
  const std::string folder = FolderOf(name);
  const std::unique_ptr<Vilbert> model = LoadModel<Vilbert>(folder);
  const Golden golden(folder, dtype);
  if (dtype == DType::float32) return CompareWithGolden(*model, golden, 5e-5);
  Vilbert in_double(model->config(), dtype);
  LoadParameters(in_double.parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
  CompareWithGolden(in_double, golden, 1e-6);  // the goldens are single
}

TEST_P(VilbertParity, ComesBackFromItsFolder) {
  const std::unique_ptr<RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf(std::get<0>(GetParam())));
  const TemporaryFolder folder;
  ComesBack(*model, folder.path());
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
    EXPECT_LT(Deviation(ToDouble(encoded.text), golden.Expected("sequence_output_t")), tolerance) << Name(compute);
    EXPECT_LT(Deviation(ToDouble(encoded.regions), golden.Expected("sequence_output_v")), tolerance) << Name(compute);
  }
}

// A pair has the same states alone and beside others, to the last bit.
TEST(Vilbert, IsBatchInvariant) {
  const Golden golden(FolderOf("pretraining"), DType::float32);
  const std::unique_ptr<const Vilbert> model =
      LoadModel<Vilbert>(FolderOf("pretraining"), {.purpose = LoadFor::computing});
  Context context;
  const std::vector<float> together =
      model->Pool(context, model->Encode(context, golden.ids, golden.types, golden.texts, golden.regions))
          .ToVector<float>();
  std::vector<float> apart;
  for (std::size_t i = 0; i < golden.texts.size(); ++i) {
    const Sequence text = golden.texts[i], picture = golden.regions.pictures[i];
    const auto ids =
        std::span(golden.ids).subspan(static_cast<std::size_t>(text.begin), static_cast<std::size_t>(text.length));
    const auto types =
        std::span(golden.types).subspan(static_cast<std::size_t>(text.begin), static_cast<std::size_t>(text.length));
    const Regions regions = {golden.regions.features.ViewRows(picture.begin, picture.length).Clone(),
                             golden.regions.boxes.ViewRows(picture.begin, picture.length).Clone(),
                             {{0, picture.length}}};
    const EncodedPairs alone = model->Encode(context, ids, types, {{0, text.length}}, regions);
    const std::vector<float> pooled = model->Pool(context, alone).ToVector<float>();
    apart.insert(apart.end(), pooled.begin(), pooled.end());
  }
  EXPECT_EQ(together, apart);
}

TEST(Vilbert, TakesOtherAnswers) {
  const std::unique_ptr<const RegionTextEncoder> model = LoadModel<RegionTextEncoder>(FolderOf("pretraining"));
  const std::unique_ptr<RegionTextEncoder> answering = GiveAnswers(*model, {"yes", "no", "red"}, 1);
  EXPECT_FALSE(answering->heads().masked_words);
  EXPECT_EQ(answering->labels(), (std::vector<std::string>{"yes", "no", "red"}));
  const Golden golden(FolderOf("pretraining"), DType::float32);
  Context context;
  const EncodedPairs encoded = answering->Encode(context, golden.ids, golden.types, golden.texts, golden.regions);
  EXPECT_LT(Deviation(ToDouble(encoded.text), golden.Expected("sequence_output_t")), 5e-5);
  EXPECT_EQ(answering->AnswerLogits(context, answering->Pool(context, encoded)).shape(), (Shape{2, 3}));
  EXPECT_THAT(ErrorOf([&] { answering->RegionLogits(context, encoded.regions); }), HasSubstr("no head for regions"));
  EXPECT_THAT(ErrorOf([&] { model->AnswerLogits(context, encoded.text); }), HasSubstr("no head for answers"));
  // The same answers again keep their head.
  const std::unique_ptr<RegionTextEncoder> same = GiveAnswers(*answering, answering->labels(), 2);
  EXPECT_EQ(ByName(same->parameters(), &Parameter::value), ByName(answering->parameters(), &Parameter::value));
}

TEST(Vilbert, RefusesWhatItDoesNotHave) {
  const std::unique_ptr<const Vilbert> model = LoadModel<Vilbert>(FolderOf("pretraining"));
  Context context;
  const std::vector<std::int32_t> ids = {1, 2, 3};
  const auto encode = [&](const Sequences& texts, const Regions& regions, std::vector<std::int32_t> tasks = {}) {
    return ErrorOf([&] { model->Encode(context, ids, {}, texts, regions, tasks); });
  };
  const Regions good = {Tensor::Zeros({2, 7}), Tensor::Zeros({2, 5}), {{0, 2}}};
  EXPECT_EQ(encode({{0, 3}}, good), "");
  EXPECT_THAT(encode({{0, 2}, {2, 1}}, good), HasSubstr("there are 2 texts and 1 pictures"));
  EXPECT_THAT(encode({{0, 3}}, {Tensor::Zeros({2, 6}), good.boxes, good.pictures}),
              HasSubstr("features of 2 regions must be [regions, 7], not [2, 6]"));
  EXPECT_THAT(encode({{0, 3}}, {good.features, Tensor::Zeros({2, 4}), good.pictures}), HasSubstr("boxes of 2 regions"));
  EXPECT_THAT(encode({{0, 3}}, {good.features, good.boxes, {{0, 0}}}), HasSubstr("a picture is empty"));
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
  EXPECT_THAT(config_error("{", "{\"dynamic_attention\": true,"), HasSubstr("gated by the text is not supported"));
  EXPECT_THAT(config_error("{", "{\"with_coattention\": false,"), HasSubstr("never meet"));
  EXPECT_THAT(config_error("{", "{\"fusion_method\": \"max\","), HasSubstr("key 'fusion_method'"));
  EXPECT_THAT(config_error("{", "{\"v_kidden_size\": 3,"), HasSubstr("v_kidden_size"));
  EXPECT_THAT(config_error("\"bi_num_attention_heads\": 2", "\"bi_num_attention_heads\": 4"), HasSubstr("must divide"));
  EXPECT_THAT(config_error("\"v_biattention_id\": [\n    0,\n    1", "\"v_biattention_id\": [\n    1,\n    0"),
              HasSubstr("ascending numbers of layers below 2"));
  EXPECT_THAT(config_error("\"v_biattention_id\": [\n    0,\n    1", "\"v_biattention_id\": [\n    0"),
              HasSubstr("must be equally long, not 2 and 1"));
  EXPECT_THAT(config_error("\"v_num_attention_heads\": 3", "\"v_num_attention_heads\": 5"),
              HasSubstr("the picture's number of heads"));
}

}  // namespace
}  // namespace headlight

// Compares T5 and BART with Hugging Face Transformers. tools/make_encoder_decoder_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/decode.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/bart.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/t5.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/train/objectives/teacher_forcing.h"
#include "headlight/train/optimizer.h"
#include "tests/padded_testing.h"
#include "tests/parity_testing.h"

namespace headlight::encoder_decoder_parity_test {
namespace {

using testing::HasSubstr;

constexpr std::array kFolders = {"t5_relu",   "t5_gated_gelu_untied", "mt5_gated_silu",
                                 "bart_gelu", "bart_relu_plain",      "mbart_gelu"};

std::string FolderOf(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/tests/testdata/encoder_decoders/" + name;
}

std::unique_ptr<EncoderDecoder> InDouble(const std::string& folder) {
  const auto filled = [&](std::unique_ptr<EncoderDecoder> model) {
    LoadParameters(model->parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
    return model;
  };
  if (folder.find("t5_") != std::string::npos)
    return filled(std::make_unique<T5>(LoadModel<T5>(folder)->config(), DType::float64));
  return filled(std::make_unique<Bart>(LoadModel<Bart>(folder)->config(), DType::float64));
}

struct Golden {
  explicit Golden(const std::string& name)
      : file(FolderOf(name) + "/golden.safetensors"),
        source(file, "input_ids", "attention_mask"),
        target(file, "decoder_input_ids", "decoder_attention_mask") {}

  Tensor Read(const std::string& name) const { return file.Read(name, DType::float64); }

  // Returns the attention weights of one sentence, [heads, query, key], without padding.
  Numbers Attention(const LayerAttention& seen) const {
    static constexpr const char* kNames[] = {"encoder_attentions.", "decoder_attentions.", "cross_attentions."};
    const Tensor all = Read(kNames[static_cast<int>(seen.kind)] + std::to_string(seen.layer));
    const UnpaddedTexts& queries = seen.kind == AttentionKind::encoder_self ? source : target;
    const UnpaddedTexts& keys = seen.kind == AttentionKind::decoder_self ? target : source;
    const auto b = static_cast<std::size_t>(seen.sequence);
    const std::int64_t heads = all.shape()[1];
    Numbers result;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = 0; query < queries.texts[b].length; ++query) {
        const std::int64_t row = (seen.sequence * heads + head) * all.shape()[2] + queries.first[b] + query;
        const double* weights = all.matrix<double>().row(row) + keys.first[b];
        result.insert(result.end(), weights, weights + keys.texts[b].length);
      }
    return result;
  }

  Safetensors file;
  UnpaddedTexts source, target;
};

class EncoderDecoderParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, EncoderDecoderParity,
                         testing::Combine(testing::ValuesIn(kFolders), testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(EncoderDecoderParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const double tolerance = dtype == DType::float32 ? 1e-5 : 3e-6;  // the goldens and T5's norms have single precision
  const Golden golden(name);
  const std::unique_ptr<EncoderDecoder> model =
      dtype == DType::float32 ? LoadModel<EncoderDecoder>(FolderOf(name)) : InDouble(FolderOf(name));
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  std::size_t attentions = 0;
  context.hooks.attention = [&](const LayerAttention& seen) {
    EXPECT_LT(Deviation(ToDouble(seen.weights), golden.Attention(seen)), tolerance);
    ++attentions;
  };
  const Memory memory{model->Encode(context, golden.source.ids, golden.source.texts), golden.source.texts};
  const Tensor hidden = model->Decode(context, golden.target.ids, golden.target.texts, memory);
  std::size_t expected_attentions = 0;
  for (const auto& [tensor, ignored] : golden.file.tensors())
    expected_attentions += tensor.find("_attentions.") != std::string::npos ? golden.source.texts.size() : 0;
  EXPECT_EQ(attentions, expected_attentions);
  EXPECT_LT(Deviation(ToDouble(memory.rows), golden.source.Rows(golden.Read("encoder_hidden"))), tolerance);
  EXPECT_LT(Deviation(ToDouble(hidden), golden.target.Rows(golden.Read("decoder_hidden"))), tolerance);
  Tensor loss = ops::Add(WeightedTotal(memory.rows), WeightedTotal(hidden));
  if (golden.file.contains("logits")) {
    const Tensor logits = model->Logits(context, hidden);
    EXPECT_LT(Deviation(ToDouble(logits), golden.target.Rows(golden.Read("logits"))), tolerance);
    loss = ops::Add(loss, WeightedTotal(logits));
  }
  EXPECT_LT(Deviation(ToDouble(loss), ToDouble(golden.Read("loss"))), 10 * tolerance);
  tape.Backward(loss);
  const NamedNumbers expected = GradientsOf(golden.file);
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), expected), tolerance);
  // The gradients of position tables are compared separately, since they are much smaller than the gradients of word
  // embeddings.
  const NamedNumbers found = ByName(model->parameters(), &Parameter::gradient);
  for (const auto& [parameter, numbers] : expected) {
    const bool position =
        parameter.find("relative") != std::string::npos || parameter.find("embed_pos") != std::string::npos;
    if (!position) continue;
    EXPECT_LT(Deviation(found.at(parameter), numbers), 3 * tolerance) << parameter;
  }
}

class EncoderDecoderFolder : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EncoderDecoderFolder, testing::ValuesIn(kFolders),
                         [](const auto& which) { return std::string(which.param); });

Numbers LogitsOf(const EncoderDecoder& model, const Golden& golden) {
  Context context;
  const Memory memory{model.Encode(context, golden.source.ids, golden.source.texts), golden.source.texts};
  return ToDouble(model.Logits(context, model.Decode(context, golden.target.ids, golden.target.texts, memory)));
}

TEST_P(EncoderDecoderFolder, SavesLikeTransformers) {
  const TemporaryFolder saved;
  LoadModel<EncoderDecoder>(FolderOf(GetParam()))->Save(saved.path());
  const Safetensors ours(saved.File("model.safetensors")), theirs(FolderOf(GetParam()) + "/model.safetensors");
  EXPECT_EQ(ours.tensors().size(), theirs.tensors().size());
  for (const auto& [name, tensor] : theirs.tensors()) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_TRUE(std::ranges::equal(ours.At(name).bytes, tensor.bytes)) << name;
  }
  const Golden golden(GetParam());
  EXPECT_EQ(LogitsOf(*LoadModel<EncoderDecoder>(saved.path()), golden),
            LogitsOf(*LoadModel<EncoderDecoder>(FolderOf(GetParam())), golden));
}

// Checks that packed models agree with the golden in every compute type, within the tolerance of the type.
TEST_P(EncoderDecoderFolder, ComputesInEveryPrecision) {
  const Golden golden(GetParam());
  const Numbers expected = LogitsOf(*InDouble(FolderOf(GetParam())), golden);
  for (const auto& [compute, tolerance] :
       {std::pair(Compute::float32, 1e-5), std::pair(Compute::bfloat16, 0.1), std::pair(Compute::int8, 0.2)}) {
    if (!kernels::CpuHas(compute)) continue;
    const LoadModelOptions options{.compute = compute, .purpose = LoadFor::computing};
    EXPECT_LT(Deviation(LogitsOf(*LoadModel<EncoderDecoder>(FolderOf(GetParam()), options), golden), expected),
              tolerance)
        << Name(compute);
  }
  const TemporaryFolder converted;
  LoadModel<EncoderDecoder>(FolderOf(GetParam()))->Save(converted.path(), Compute::int8);
  EXPECT_LT(Deviation(LogitsOf(*LoadModel<EncoderDecoder>(converted.path()), golden), expected), 0.2)
      << "stored in 8 bits";
}

// Checks that decoding token by token with a cache gives the same logits as whole sentences.
TEST_P(EncoderDecoderFolder, DecodesStepByStep) {
  const Golden golden(GetParam());
  const std::unique_ptr<EncoderDecoder> model = LoadModel<EncoderDecoder>(FolderOf(GetParam()));
  const std::vector<std::int32_t> target = {2, 5, 7, 7, 9, 3, 11, 4, 6, 8, 8, 21, 3};
  const auto length = static_cast<std::int32_t>(target.size());
  Context whole, stepwise;
  const Sequences source = {golden.source.texts[0]};
  const auto ids = std::span(golden.source.ids).first(static_cast<std::size_t>(source[0].length));
  const Memory memory{model->Encode(whole, ids, source), source};
  const Numbers expected = ToDouble(model->Decode(whole, target, {{0, length}}, memory));
  DecoderCache cache;
  stepwise.cache = &cache;
  Numbers found;
  for (std::int32_t begin = 0, next; begin < length; begin = next) {
    next = begin == 0 ? 3 : begin + 1;
    const auto some =
        std::span(target).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(next - begin));
    const Numbers hidden = ToDouble(model->Decode(stepwise, some, {{0, next - begin}}, memory));
    found.insert(found.end(), hidden.begin(), hidden.end());
  }
  EXPECT_LT(Deviation(found, expected), 1e-5);
}

// Returns the deviation of scores from the scores of generate(), or infinity if a token differs.
double DecodingDeviation(const EncoderDecoder& model, const Golden& golden, const JsonView& expected,
                         const DecodingOptions& options) {
  const auto found = Decode(model, golden.source.ids, golden.source.texts, options);
  double worst = 0;
  const std::vector<JsonView> sequences = expected.Items();
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const std::vector<JsonView> hypotheses = sequences[b].Items();
    if (found[b].size() != hypotheses.size()) return INFINITY;
    for (std::size_t n = 0; n < hypotheses.size(); ++n) {
      const std::vector<JsonView> hypothesis = hypotheses[n].Items();
      std::vector<std::int32_t> ids = found[b][n].ids, expected_ids;
      if (found[b][n].ended) ids.push_back(model.limits().end_id);
      for (const JsonView& id : hypothesis[0].Items()) expected_ids.push_back(static_cast<std::int32_t>(id.Integer()));
      if (ids != expected_ids) return INFINITY;
      if (hypothesis.size() > 1) worst = std::max(worst, std::abs(found[b][n].score - hypothesis[1].Number()));
    }
  }
  return worst;
}

// Returns the settings of generate(), whose lengths include the start token.
DecodingOptions SettingsOf(const EncoderDecoder& model, const JsonView& expected) {
  const auto integer = [&](const char* key) { return static_cast<std::int32_t>(expected.Get(key, 0).Integer()); };
  DecodingOptions options{
      .search = {.beam_size = integer("num_beams"),
                 .n_best = integer("num_beams"),
                 .length_penalty = expected.Get("length_penalty", 1.0).Number(),
                 .processors = {.repetition_penalty = expected.Get("repetition_penalty", 1.0).Number(),
                                .no_repeat_ngram_size = integer("no_repeat_ngram_size")}},
      .max_length = 16,
      .min_length = std::max(0, integer("min_length") - 1)};
  if (expected["forced_bos_token_id"].present()) options.search.first_token = integer("forced_bos_token_id");
  if (const JsonView early = expected["early_stopping"]; early.present())
    options.search.stopping = early.value() == Json("never") ? Stopping::never : Stopping::at_once;
  if (expected["prefix"].present()) {
    options.prefix = {model.limits().start_id};
    for (const JsonView& id : expected["prefix"].Items())
      options.prefix.push_back(static_cast<std::int32_t>(id.Integer()));
  }
  return options;
}

TEST(EncoderDecoderDecoding, EqualsGenerate) {
  for (const char* name : {"t5_relu", "bart_gelu"}) {
    const Golden golden(name);
    for (const LoadFor purpose : {LoadFor::everything, LoadFor::computing}) {
      const auto model = LoadModel<EncoderDecoder>(FolderOf(name), {.purpose = purpose});
      for (const JsonView& expected : ReadJson(FolderOf(name) + "/decoded.json").Items())
        EXPECT_LT(DecodingDeviation(*model, golden, expected["sentences"], SettingsOf(*model, expected)), 1e-4)
            << name << " " << expected.value().Line();
    }
  }
}

// Greedy hypotheses of all sentences, decoded in a batch and separately, and the number of decoding steps.
struct Written {
  std::vector<Hypothesis> hypotheses;
  int steps = 0;
};

Written WriteGreedily(const EncoderDecoder& model, const Golden& golden, std::int32_t min_length) {
  Written written;
  const DecodingOptions options{
      .search = {.beam_size = 1}, .max_length = 16, .min_length = min_length, .cancelled = [&] {
        return ++written.steps < 0;
      }};
  const auto add = [&](std::span<const std::int32_t> ids, const Sequences& sequences) {
    for (const auto& best : Decode(model, ids, sequences, options)) written.hypotheses.push_back(best.front());
  };
  add(golden.source.ids, golden.source.texts);
  for (const auto& [begin, length, step] : golden.source.texts)
    add(std::span(golden.source.ids).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)),
        {{0, length}});
  return written;
}

// Checks that speculative decoding gives bit-identical output if the draft has the same or different weights. A good
// draft needs fewer steps.
TEST_P(EncoderDecoderFolder, GivesTheSameWithADraft) {
  const Golden golden(GetParam());
  for (const auto& [compute, good] :
       {std::pair(Compute::float32, true), std::pair(Compute::float32, false), std::pair(Compute::bfloat16, true)}) {
    if (!kernels::CpuHas(compute)) continue;
    const auto without =
        LoadModel<EncoderDecoder>(FolderOf(GetParam()), {.compute = compute, .purpose = LoadFor::computing});
    const auto with =
        LoadModel<EncoderDecoder>(FolderOf(GetParam()), {.compute = compute, .purpose = LoadFor::computing_with_draft});
    if (!good)
      for (Parameter& parameter : with->parameters().all()) {
        if (!parameter.role.in_products) continue;
        const Tensor other = Tensor::Zeros(parameter.shape);
        Random random(1);
        for (float& number : other.span<float>()) number = static_cast<float>(random.Normal());
        parameter.draft.Pack(other.matrix<float>(), /*transposed=*/true);
      }
    for (const std::int32_t min_length : {0, 7, 16}) {
      const Written plain = WriteGreedily(*without, golden, min_length),
                    drafted = WriteGreedily(*with, golden, min_length);
      for (std::size_t i = 0; i < plain.hypotheses.size(); ++i) {
        EXPECT_EQ(drafted.hypotheses[i].ids, plain.hypotheses[i].ids) << min_length;
        EXPECT_EQ(drafted.hypotheses[i].log_probability, plain.hypotheses[i].log_probability) << min_length;
        EXPECT_EQ(drafted.hypotheses[i].ended, plain.hypotheses[i].ended) << min_length;
      }
      if (good && min_length > 0) {
        EXPECT_LT(drafted.steps, plain.steps * 3 / 4) << min_length;
      }
    }
  }
}

// Trains from random weights, with dropout.
TEST(EncoderDecoderTraining, MemorizesSentences) {
  T5Config t5 = LoadModel<T5>(FolderOf("t5_gated_gelu_untied"))->config();
  BartConfig bart = LoadModel<Bart>(FolderOf("mbart_gelu"))->config();
  t5.model = t5.ffn = bart.model = bart.decoder_ffn = 24;
  std::unique_ptr<EncoderDecoder> models[] = {std::make_unique<T5>(t5), std::make_unique<Bart>(bart)};
  for (const auto& model : models) {
    Parameters& parameters = model->parameters();
    parameters.Initialize(4);
    parameters.PrepareTraining();
    Optimizer optimizer({}, parameters);
    const std::vector<std::vector<std::int32_t>> sources = {{5, 6, 7}, {8, 9}, {10, 4, 12, 13, 14}, {21, 3}};
    const std::vector<std::vector<std::int32_t>> targets = {{7, 7, 5}, {4, 11, 9, 15}, {20}, {6, 22}};
    const double before = LossOfPairs(*model, sources, targets).mean();
    TokenBatch batch;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      std::vector<std::int32_t> source = sources[i];
      source.push_back(model->limits().end_id);
      AppendPair(source, targets[i], model->limits().start_id, model->limits().end_id, batch);
    }
    const std::vector<TrainingPart> parts = {TrainingPart(batch)};
    const PartLoss loss = [&](Context& context, const TrainingPart&, double scale) {
      return TeacherForcedLoss(*model, context, batch, 0, scale);
    };
    for (std::uint64_t step = 0; step < 150; ++step) {
      ComputeGradients(parameters, loss, parts, {.labels = LabelCount(batch), .seed = step});
      optimizer.Step(parameters, 0.01);
    }
    const double after = LossOfPairs(*model, sources, targets).mean();
    EXPECT_GT(before, 2);
    EXPECT_LT(after, 0.2);
  }
}

TEST(RelativeBuckets, AreT5s) {
  for (const JsonView& expected : ReadJson(FolderOf("buckets.json")).Items()) {
    const RelativePositionsConfig config{expected["both_directions"].Bool(),
                                         static_cast<std::int32_t>(expected["buckets"].Integer()),
                                         static_cast<std::int32_t>(expected["max_distance"].Integer())};
    std::vector<std::int32_t> buckets;
    for (const JsonView& bucket : expected["expected"].Items())
      buckets.push_back(static_cast<std::int32_t>(bucket.Integer()));
    EXPECT_EQ(RelativeBuckets(config), buckets) << config.buckets << " " << config.max_distance;
  }
}

// Returns the error of loading a folder with another value for a key of config.json.
std::string ErrorWith(const char* name, const char* key, Json value) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf(name), folder.path(), std::filesystem::copy_options::recursive);
  Json config = ReadJson(folder.File("config.json")).value();
  config.Set(key, std::move(value));
  WriteFile(folder.File("config.json"), config.Text());
  return ErrorOf([&] { LoadModel<EncoderDecoder>(folder.path()); });
}

TEST(T5Folder, RefusesUnsupportedInput) {
  EXPECT_EQ(ErrorWith("t5_relu", "n_positions", 512), "");
  EXPECT_EQ(ErrorWith("t5_relu", "dense_act_fn", "gelu"), "");
  EXPECT_THAT(ErrorWith("t5_relu", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("t5_relu", "is_decoder", true), HasSubstr("is_decoder"));
  EXPECT_THAT(ErrorWith("t5_relu", "is_gated_act", true), HasSubstr("is_gated_act"));
  EXPECT_THAT(ErrorWith("t5_relu", "feed_forward_proj", "gated-mish"), HasSubstr("mish"));
  EXPECT_THAT(ErrorWith("t5_relu", "dense_act_fn", "mish"), HasSubstr("dense_act_fn"));
  EXPECT_THAT(ErrorWith("t5_relu", "d_kv", 4), HasSubstr("other shapes"));
  EXPECT_THAT(ErrorWith("t5_relu", "num_layers", 3), HasSubstr("encoder.block.2."));
  EXPECT_THAT(ErrorWith("t5_relu", "eos_token_id", 24), HasSubstr("24 is outside the vocabulary"));
  EXPECT_THAT(ErrorWith("t5_relu", "relative_attention_num_buckets", 3), HasSubstr("relative_attention_num_buckets"));
  EXPECT_THAT(ErrorWith("t5_relu", "relative_attention_max_distance", 4), HasSubstr("more than half"));
  EXPECT_THAT(ErrorWith("t5_relu", "layer_norm_epsilon", 0), HasSubstr("epsilon"));
}

// Checks that generation settings do not prevent loading. The first of several end tokens is used.
TEST(EncoderDecoderConfig, MayHaveGenerationSettings) {
  for (const char* name : {"t5_relu", "bart_gelu", "mbart_gelu", "../transformers/marian_relu"}) {
    EXPECT_EQ(ErrorWith(name, "eos_token_id", Json::Array{1, 2}), "") << name;
    EXPECT_EQ(ErrorWith(name, "max_new_tokens", 5), "") << name;
    EXPECT_EQ(ErrorWith(name, "sequence_bias", Json::Array{Json(Json::Array{Json(Json::Array{3}), 1.5})}), "") << name;
    EXPECT_THAT(ErrorWith(name, "pad_token_id", Json::Array{1, 2}), HasSubstr("pad_token_id")) << name;
  }
}

TEST(BartFolder, RefusesUnsupportedInput) {
  EXPECT_EQ(ErrorWith("bart_gelu", "normalize_before", false), "");
  EXPECT_THAT(ErrorWith("bart_gelu", "normalize_before", true), HasSubstr("normalize_before"));
  EXPECT_THAT(ErrorWith("bart_gelu", "tie_word_embeddings", false), HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(ErrorWith("bart_gelu", "extra_pos_embeddings", 0), HasSubstr("extra_pos_embeddings"));
  EXPECT_THAT(ErrorWith("bart_gelu", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("bart_gelu", "encoder_attention_heads", 5), HasSubstr("5 does not divide 12"));
  EXPECT_THAT(ErrorWith("bart_gelu", "max_position_embeddings", 25), HasSubstr("other shapes"));
  EXPECT_THAT(ErrorWith("mbart_gelu", "add_final_layer_norm", false), HasSubstr("add_final_layer_norm"));
  EXPECT_THAT(ErrorWith("bart_gelu", "model_type", "mbart"), HasSubstr("missing: model.encoder.layer_norm.weight"));
}

}  // namespace
}  // namespace headlight::encoder_decoder_parity_test

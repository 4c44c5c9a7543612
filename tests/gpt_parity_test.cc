// The GPTs against Hugging Face Transformers: tools/make_gpt_goldens.py describes the folders in testdata/gpt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/generate.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/gpt.h"
#include "headlight/models/imagegpt.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "tests/parity_testing.h"

namespace headlight::gpt_parity_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/" + name; }

// Of either kind of model: one that has a tokenizer, and one of pictures.
std::unique_ptr<LanguageModel> LoadOf(const std::string& folder, const LoadModelOptions& options = {}) {
  std::unique_ptr<Model> model = LoadModel(folder, options);
  EXPECT_NE(dynamic_cast<LanguageModel*>(model.get()), nullptr);
  return std::unique_ptr<LanguageModel>(static_cast<LanguageModel*>(model.release()));
}

// The texts of the golden file, without padding.
struct Golden {
  explicit Golden(const std::string& name) : file(FolderOf(name) + "/golden.safetensors") {
    const Tensor all = file.Read("input_ids", DType::int32), mask = file.Read("attention_mask", DType::int32);
    for (std::int64_t b = 0; b < all.rows(); ++b) {
      const auto begin = static_cast<std::int32_t>(ids.size());
      for (std::int64_t i = 0; i < all.columns(); ++i) {
        if (mask.matrix<std::int32_t>().row(b)[i] == 0) continue;
        if (static_cast<std::size_t>(b) == first.size()) first.push_back(i);
        kept.push_back(b * all.columns() + i);
        ids.push_back(all.matrix<std::int32_t>().row(b)[i]);
      }
      texts.push_back({begin, static_cast<std::int32_t>(ids.size()) - begin});
    }
  }

  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  // [texts, longest, columns] without the rows of padding.
  Numbers Rows(const std::string& name) const {
    const Tensor padded = file.Read(name, DType::float64);
    Numbers result;
    for (const std::int64_t row : kept) {
      const double* values = padded.matrix<double>().row(row);
      result.insert(result.end(), values, values + padded.columns());
    }
    return result;
  }
  // One text's [heads, query, key] without padding.
  Numbers Attention(int layer, std::int32_t text) const {
    const Tensor all = file.Read("attentions." + std::to_string(layer), DType::float64);
    const std::int64_t heads = all.shape()[1], longest = all.shape()[2];
    const auto index = static_cast<std::size_t>(text);
    Numbers result;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = first[index]; query < first[index] + texts[index].length; ++query) {
        const double* row = all.matrix<double>().row((text * heads + head) * longest + query) + first[index];
        result.insert(result.end(), row, row + texts[index].length);
      }
    return result;
  }

  Safetensors file;
  Ids ids;
  std::vector<std::int64_t> first, kept;
  Sequences texts;
};

constexpr double kTolerance = 2e-5;

class GptParity : public testing::TestWithParam<const char*> {
 protected:
  const std::string name_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(, GptParity,
                         testing::Values("gpt1", "gpt1_odd_left", "gpt2", "gpt2_odd_left", "gpt2_unscaled_left",
                                         "gpt2_gelu", "gpt3", "gpt3_odd_left", "imagegpt", "imagegpt_odd_left",
                                         "imagegpt_tied"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(GptParity, GivesWhatTransformersGives) {
  const Golden golden(name_);
  const std::unique_ptr<LanguageModel> model = LoadOf(FolderOf(name_));
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  int attentions = 0;
  context.sink = [&](const LayerAttention& seen) {
    EXPECT_EQ(seen.kind, AttentionKind::decoder_self);
    EXPECT_LT(Deviation(ToDouble(seen.weights), golden.Attention(seen.layer, seen.sentence)), kTolerance);
    ++attentions;
  };
  const Tensor hidden = model->Decode(context, golden.ids, golden.texts), logits = model->Logits(context, hidden);
  EXPECT_GT(attentions, 0);
  EXPECT_LT(Deviation(ToDouble(hidden), golden.Rows("last_hidden_state")), kTolerance);
  EXPECT_LT(Deviation(ToDouble(logits), golden.Rows("logits")), kTolerance);
  const Tensor loss = ops::Add(Weighed(hidden), Weighed(logits));
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read("loss")), kTolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden.file)), kTolerance);
}

// A text in pieces over a cache, first several tokens and then one after another, packed and computed in every
// precision.
TEST_P(GptParity, DecodesTheSameOverItsCache) {
  const Golden golden(name_);
  const Numbers expected = golden.Rows("logits");
  for (const auto& [compute, tolerance] :
       {std::pair(Compute::float32, kTolerance), std::pair(Compute::bfloat16, 0.05), std::pair(Compute::int8, 0.15)}) {
    if (!kernels::CpuHas(compute)) continue;
    const auto model = LoadOf(FolderOf(name_), {.compute = compute, .purpose = LoadFor::computing});
    for (const Sequence& text : golden.texts) {
      DecoderCache cache;
      Context context;
      context.cache = &cache;
      Numbers logits;
      for (std::int32_t begin = 0, length; begin < text.length; begin += length) {
        length = begin == 0 ? (text.length + 1) / 2 : 1;
        const auto ids = std::span(golden.ids)
                             .subspan(static_cast<std::size_t>(text.begin + begin), static_cast<std::size_t>(length));
        const Numbers some = ToDouble(model->Logits(context, model->Decode(context, ids, Sequences{{0, length}})));
        logits.insert(logits.end(), some.begin(), some.end());
      }
      const auto columns = static_cast<std::ptrdiff_t>(model->outputs());
      EXPECT_LT(Deviation(logits, {expected.begin() + text.begin * columns, expected.begin() + text.end() * columns}),
                tolerance)
          << Name(compute);
    }
  }
}

TEST_P(GptParity, GeneratesTheSameTokens) {
  const std::unique_ptr<LanguageModel> model = LoadOf(FolderOf(name_));
  const auto integers = [](const JsonView& json) {
    Ids ids;
    for (const JsonView& id : json.Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
    return ids;
  };
  for (const JsonView& run : ReadJson(FolderOf(name_) + "/generation.json").Items()) {
    const JsonView said = run["options"];
    GenerationOptions options{.max_new_tokens = 8};
    if (model->limits().end_id >= 0) options.search.end_ids = {model->limits().end_id};
    options.search.beam_size = static_cast<std::int32_t>(said["num_beams"].Integer());
    options.search.n_best = std::min(2, options.search.beam_size);
    options.search.length_penalty = said.Get("length_penalty", 1.0).Number();
    options.search.processors.repetition_penalty = said.Get("repetition_penalty", 1.0).Number();
    options.search.processors.no_repeat_ngram_size =
        static_cast<std::int32_t>(said.Get("no_repeat_ngram_size", 0).Integer());
    if (const Json early = said.Get("early_stopping", false).value(); early != Json(false))
      options.search.stopping = early == Json("never") ? Stopping::never : Stopping::at_once;
    options.min_new_tokens = static_cast<std::int32_t>(said.Get("min_new_tokens", 0).Integer());
    std::vector<Ids> prompts;
    for (const JsonView& prompt : run["prompts"].Items()) prompts.push_back(integers(prompt));
    const std::vector<std::vector<Hypothesis>> ours = Generate(*model, prompts, options);
    const std::vector<JsonView> theirs = run["texts"].Items(), scores = run["scores"].Items();
    for (std::size_t i = 0; i < prompts.size(); ++i)
      for (std::size_t n = 0; n < ours[i].size(); ++n) {
        Ids ids = ours[i][n].ids;
        if (ours[i][n].ended) ids.push_back(model->limits().end_id);
        EXPECT_EQ(ids, integers(theirs[i].Items()[n])) << said.value().Line() << " text " << i;
        if (scores.empty()) continue;
        EXPECT_NEAR(ours[i][n].score, scores[i].Items()[n].Number(), 1e-4);
      }
  }
}

// For texts that end by their length, by the end token and by the callback.
TEST_P(GptParity, WritesWithADraftWhatItWritesWithout) {
  const Golden golden(name_);
  const auto without = LoadOf(FolderOf(name_), {.purpose = LoadFor::computing});
  const auto with = LoadOf(FolderOf(name_), {.purpose = LoadFor::computing_with_draft});
  const Ids prompt(golden.ids.begin(), golden.ids.begin() + 2);
  int plain_steps = 0, drafted_steps = 0;
  for (const bool forever : {false, true})
    for (const std::int32_t enough : {3, 100})
      for (const std::int32_t min_new_tokens : {0, 6}) {
        const auto written = [&](const LanguageModel& model, int& steps) {
          Ids told;
          GenerationOptions options{.max_new_tokens = 11,
                                    .min_new_tokens = min_new_tokens,
                                    .cancelled = [&] { return ++steps < 0; },
                                    .on_token =
                                        [&](std::size_t, std::int32_t id) {
                                          told.push_back(id);
                                          return std::ssize(told) < enough;
                                        }};
          if (!forever)
            for (std::int32_t id = 0; id < model.limits().vocabulary / 3; ++id) options.search.end_ids.push_back(id);
          const Hypothesis text = Generate(model, {prompt}, options).front().front();
          EXPECT_EQ(told, text.ids);
          return std::tuple(text.ids, text.log_probability, text.ended);
        };
        EXPECT_EQ(written(*with, drafted_steps), written(*without, plain_steps));
      }
  EXPECT_LT(drafted_steps, plain_steps * 3 / 4);
}

TEST_P(GptParity, ComesBackFromItsFolder) {
  const std::unique_ptr<LanguageModel> model = LoadOf(FolderOf(name_));
  const TemporaryFolder folder, quantized;
  model->Save(folder.path());
  const std::unique_ptr<LanguageModel> again = LoadOf(folder.path());
  EXPECT_EQ(again->limits().end_id, model->limits().end_id);
  EXPECT_EQ(again->parameters().values().ToVector<float>(), model->parameters().values().ToVector<float>());

  // int8 rounds each weight to a hundredth of its row's largest. Of a folder with rounded weights only the activations
  // are rounded once more.
  const Golden golden(name_);
  for (const Compute compute : {Compute::int8, Compute::int4}) {
    SCOPED_TRACE(Name(compute));
    model->Save(quantized.path(), compute);
    const auto logits = [&](LoadFor purpose) {
      const std::unique_ptr<LanguageModel> small = LoadOf(quantized.path(), {.purpose = purpose});
      Context context;
      return ToDouble(small->Logits(context, small->Decode(context, golden.ids, golden.texts)));
    };
    const Numbers rounded = logits(LoadFor::everything), computed = logits(LoadFor::computing);
    EXPECT_LT(Deviation(computed, rounded), 0.1);
    if (compute == Compute::int8) {
      EXPECT_LT(Deviation(rounded, golden.Rows("logits")), 0.1);
    }
  }
}

TEST(Gpt, RefusesWhatItDoesNotHave) {
  const auto with = [](const char* name, const char* from, const char* to) {
    const TemporaryFolder folder;
    std::filesystem::copy(FolderOf(name), folder.path(), std::filesystem::copy_options::recursive);
    std::string config = ReadFile(folder.File("config.json"));
    const std::size_t at = config.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(folder.File("config.json"), config.replace(at, std::string_view(from).size(), to));
    return ErrorOf([&] { LoadOf(folder.path()); });
  };
  EXPECT_THAT(with("gpt2", "\"add_cross_attention\": false", "\"add_cross_attention\": true"),
              HasSubstr("add_cross_attention"));
  EXPECT_THAT(with("gpt2", "\"n_inner\": null", "\"n_inner\": 47"), HasSubstr("other shapes"));
  EXPECT_THAT(with("gpt2", "\"n_head\": 2", "\"n_head\": 5"), HasSubstr("5 does not divide 12"));
  EXPECT_THAT(with("gpt2", "\"model_type\"", "\"alibi\": 3, \"model_type\""), HasSubstr("alibi"));
  EXPECT_THAT(with("gpt2_odd_left", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"),
              HasSubstr("lm_head.weight differs"));
  EXPECT_THAT(with("gpt1", "\"afn\": \"gelu\"", "\"afn\": \"mish\""), HasSubstr("afn"));
  EXPECT_THAT(with("gpt3", "\"num_layers\": 2", "\"num_layers\": 3"), HasSubstr("it says what 2 layers are"));
  EXPECT_THAT(with("gpt3", "\"window_size\": 3", "\"window_size\": 0"), HasSubstr("window_size"));
  EXPECT_EQ(with("gpt2", "\"eos_token_id\": 2", "\"eos_token_id\": [2, 3]"), "");
  EXPECT_THAT(ErrorOf([] { LoadModel<LanguageModel>(HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/gelu"); }),
              HasSubstr("and a language model is needed: gpt2, gpt_neo, openai-gpt"));
  EXPECT_THAT(ErrorOf([] { LoadModel<LanguageModel>(FolderOf("imagegpt")); }),
              HasSubstr("is an imagegpt model, a generator of pictures, and a language model is needed"));
  EXPECT_THAT(with("imagegpt", "\"vocab_size\": 23", "\"vocab_size\": 1"), HasSubstr("vocab_size"));
  EXPECT_THAT(with("imagegpt", "\"n_head\": 2", "\"n_head\": 5"), HasSubstr("5 does not divide 12"));
  EXPECT_THAT(with("imagegpt", "\"add_cross_attention\": false", "\"add_cross_attention\": true"),
              HasSubstr("add_cross_attention"));

  const std::unique_ptr<LanguageModel> model = LoadModel<LanguageModel>(FolderOf("gpt2"));
  Context context;
  EXPECT_THAT(ErrorOf([&] {
                model->Decode(context, Ids(25, 1), Sequences{{0, 25}});
              }),
              HasSubstr("25 tokens is longer than"));
  EXPECT_NE(ErrorOf([&] { model->Decode(context, Ids{99}, Sequences{{0, 1}}); }), "");
}

// Classes are scored from the mean state of a picture, whatever it is batched with.
TEST(ImageGpt, ScoresClasses) {
  const Golden golden("imagegpt_classes");
  const auto model = LoadModel<ImageGpt>(FolderOf("imagegpt_classes"));
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  const Tensor hidden = model->Decode(context, golden.ids, golden.texts),
               logits = model->ClassLogits(context, hidden, golden.texts);
  EXPECT_LT(Deviation(ToDouble(hidden), golden.Rows("last_hidden_state")), kTolerance);
  EXPECT_LT(Deviation(ToDouble(logits), golden.Read("logits")), kTolerance);
  tape.Backward(ops::Add(Weighed(hidden), Weighed(logits)));
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden.file)), kTolerance);

  // With a shorter one.
  Context alone;
  const Sequences two = {{0, 6}, {6, 4}};
  const Tensor some = model->ClassLogits(alone, model->Decode(alone, std::span(golden.ids).first(10), two), two);
  const Ids last(golden.ids.begin() + 6, golden.ids.begin() + 10);
  const Tensor one = model->ClassLogits(alone, model->Decode(alone, last, {{0, 4}}), {{0, 4}});
  const std::vector<float> together = some.ToVector<float>();
  EXPECT_EQ(std::vector(together.begin() + 3, together.end()), one.ToVector<float>());

  const TemporaryFolder folder;
  model->Save(folder.path());
  const auto again = LoadModel<ImageGpt>(folder.path());
  EXPECT_EQ(again->config().labels, model->config().labels);
  EXPECT_EQ(again->parameters().values().ToVector<float>(), model->parameters().values().ToVector<float>());
  EXPECT_THAT(ErrorOf([&] { model->Logits(alone, hidden); }), HasSubstr("no head that predicts the next token"));
  EXPECT_THAT(ErrorOf([&] { Generate(*model, {{1}}, {}); }), HasSubstr("no head that predicts the next token"));
  EXPECT_THAT(ErrorOf([&] {
                const auto generator = LoadModel<ImageGpt>(FolderOf("imagegpt"));
                generator->ClassLogits(alone, hidden, golden.texts);
              }),
              HasSubstr("this model has no classes"));
}

// The start of a picture has no score, and may stand in a prompt under every rule of choice.
TEST(ImageGpt, NeverContinuesWithTheStart) {
  const auto model = LoadModel<ImageGpt>(FolderOf("imagegpt"));
  const std::int32_t start = model->config().start_id();
  ASSERT_EQ(model->outputs(), start);
  for (const std::int32_t beams : {1, 40})
    for (const auto& found : Generate(*model, {{start}, {start, 3, start, 3}},
                                      {.search = {.beam_size = beams,
                                                 .n_best = beams,
                                                 .processors = {.repetition_penalty = 1.3, .no_repeat_ngram_size = 2}},
                                      .max_new_tokens = 6}))
      for (const Hypothesis& hypothesis : found)
        for (const std::int32_t id : hypothesis.ids) EXPECT_TRUE(id >= 0 && id < start);
  EXPECT_THAT(ErrorOf([&] {
                TokenLogProbabilities(*model, Ids{start, 1, start}, {{0, 3}});
              }),
              HasSubstr("only begins a text"));
}

// The first checkpoints have no scope in front of their names, and masks among their tensors.
TEST(Gpt, ReadsTheFirstCheckpointsNames) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf("gpt2") + "/config.json", folder.File("config.json"));
  const Safetensors file(FolderOf("gpt2") + "/model.safetensors");
  std::vector<StoredTensor> tensors;
  for (auto [name, tensor] : file.tensors()) {
    EXPECT_TRUE(tensor.name.starts_with("transformer."));
    tensor.name.erase(0, 12);
    tensors.push_back(tensor);
  }
  const Tensor mask = Tensor::Zeros({24, 24});
  tensors.push_back(Stored("h.0.attn.bias", mask));
  tensors.push_back(Stored("h.1.attn.masked_bias", mask));
  WriteSafetensors(folder.File("model.safetensors"), tensors);
  const auto older = LoadModel<LanguageModel>(folder.path()), newer = LoadModel<LanguageModel>(FolderOf("gpt2"));
  EXPECT_EQ(older->parameters().values().ToVector<float>(), newer->parameters().values().ToVector<float>());
}

// Larger position embeddings would dominate those of tokens and delay learning.
TEST(Gpt2, PositionsBeginAsSmallAsWords) {
  Gpt model({.model = 32, .layers = 1, .heads = 2, .ffn = 64, .vocabulary = 200, .positions = 200, .end_id = 0});
  model.parameters().Initialise(1);
  for (const Parameter& parameter : model.parameters().all()) {
    if (!parameter.names.front().ends_with("wte.weight") && !parameter.names.front().ends_with("wpe.weight")) continue;
    double squares = 0;
    for (const float value : parameter.value.span<float>()) squares += static_cast<double>(value) * value;
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(parameter.value.elements())), 0.02, 0.001)
        << parameter.names.front();
  }
}

}  // namespace
}  // namespace headlight::gpt_parity_test

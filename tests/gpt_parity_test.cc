// Compares the GPTs with Hugging Face Transformers. tools/make_gpt_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/generate.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/gpt.h"
#include "headlight/models/imagegpt.h"
#include "headlight/ops/arithmetic.h"
#include "tests/decoder_parity_testing.h"

namespace headlight::gpt_parity_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/" + name; }

TEST(Gpt, RefusesUnsupportedInput) {
  const auto with = [](const char* name, const char* from, const char* to) {
    const TemporaryFolder folder;
    std::filesystem::copy(FolderOf(name), folder.path(), std::filesystem::copy_options::recursive);
    std::string config = ReadFile(folder.File("config.json"));
    const std::size_t at = config.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(folder.File("config.json"), config.replace(at, std::string_view(from).size(), to));
    return ErrorOf([&] { LoadDecoder(folder.path()); });
  };
  EXPECT_THAT(with("gpt2", "\"add_cross_attention\": false", "\"add_cross_attention\": true"),
              HasSubstr("add_cross_attention"));
  EXPECT_THAT(with("gpt2", "\"n_inner\": null", "\"n_inner\": 47"), HasSubstr("other shapes"));
  EXPECT_THAT(with("gpt2", "\"n_head\": 2", "\"n_head\": 5"), HasSubstr("5 does not divide 12"));
  EXPECT_THAT(with("gpt2", "\"model_type\"", "\"alibi\": 3, \"model_type\""), HasSubstr("alibi"));
  EXPECT_THAT(with("gpt2_odd_left", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"),
              HasSubstr("lm_head.weight differs"));
  EXPECT_THAT(with("gpt1", "\"afn\": \"gelu\"", "\"afn\": \"mish\""), HasSubstr("afn"));
  EXPECT_THAT(with("gpt3", "\"num_layers\": 2", "\"num_layers\": 3"), HasSubstr("it has 2 layers"));
  EXPECT_THAT(with("gpt3", "\"window_size\": 3", "\"window_size\": 0"), HasSubstr("window_size"));
  EXPECT_EQ(with("gpt2", "\"eos_token_id\": 2", "\"eos_token_id\": [2, 3]"), "");
  EXPECT_THAT(ErrorOf([] { LoadModel<LanguageModel>(HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/gelu"); }),
              HasSubstr("gemma3_text, gpt2, gpt_neo"));
  EXPECT_THAT(ErrorOf([] { LoadModel<LanguageModel>(FolderOf("imagegpt")); }), HasSubstr("is an imagegpt model"));
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

// Checks that classes are scored from the mean state of an image, in any batch.
TEST(ImageGpt, ScoresClasses) {
  const DecoderGolden golden(FolderOf("imagegpt_classes"));
  const auto model = LoadModel<ImageGpt>(FolderOf("imagegpt_classes"));
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  const Tensor hidden = model->Decode(context, golden.ids, golden.texts),
               logits = model->ClassLogits(context, hidden, golden.texts);
  EXPECT_LT(Deviation(ToDouble(hidden), golden.Rows("last_hidden_state")), kDecoderTolerance);
  EXPECT_LT(Deviation(ToDouble(logits), golden.Read("logits")), kDecoderTolerance);
  tape.Backward(ops::Add(WeightedTotal(hidden), WeightedTotal(logits)));
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden.file)), kDecoderTolerance);

  // The batch also contains a shorter image.
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
  EXPECT_THAT(ErrorOf([&] { model->Logits(alone, hidden); }), HasSubstr("predicts the next token"));
  EXPECT_THAT(ErrorOf([&] { Generate(*model, {{1}}, {}); }), HasSubstr("predicts the next token"));
  EXPECT_THAT(ErrorOf([&] {
                const auto generator = LoadModel<ImageGpt>(FolderOf("imagegpt"));
                generator->ClassLogits(alone, hidden, golden.texts);
              }),
              HasSubstr("this model has no classes"));
}

// Checks that the start token of an image is never sampled, even with logits processors. A prompt may contain this
// token.
TEST(ImageGpt, NeverSamplesTheStartToken) {
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

// Checks the oldest checkpoints, in which names have no prefix and the causal masks are stored as tensors.
TEST(Gpt, ReadsNamesOfTheFirstCheckpoints) {
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

// Checks the initialization. Larger positional embeddings would dominate the token embeddings and slow down training.
TEST(Gpt2, PositionsAreInitializedAsSmallAsTokens) {
  Gpt model({.model = 32, .layers = 1, .heads = 2, .ffn = 64, .vocabulary = 200, .positions = 200, .end_id = 0});
  model.parameters().Initialize(1);
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

#include "headlight/pipelines/text_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/pipelines/testing.h"
#include "headlight/text/utf8.h"

namespace headlight::generator_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct GeneratorTest : testing::Test {
  GeneratorTest() { SaveTinyGpt(folder.path()); }
  const TemporaryFolder folder;
};

const std::vector<std::string> kPrompts = {"A dog runs", "Two children play, they", "", "Ein Hund läuft"};

TEST_F(GeneratorTest, IsBatchInvariantAndStreamsTheSameText) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  for (const bool sample : {false, true}) {
    GenerateOptions options{.sample = sample, .max_new_tokens = 30};
    if (sample) options.seed = 5;
    std::map<std::size_t, std::string> pieces;
    options.on_text = [&](std::size_t prompt, std::string_view piece) {
      EXPECT_EQ(ValidUtf8(piece), piece.size());
      pieces[prompt] += piece;
    };
    const std::vector<std::vector<GeneratedText>> together = generator.Generate(kPrompts, options);
    options.on_text = {};
    for (std::size_t i = 0; i < kPrompts.size(); ++i) {
      EXPECT_EQ(pieces[i], together[i][0].text);
      options.first_stream = i;
      options.batch_tokens = 1 + static_cast<std::int64_t>(i);
      const GeneratedText alone = generator.Generate(kPrompts[i], options);
      EXPECT_EQ(alone.text, together[i][0].text);
      EXPECT_EQ(alone.log_probability, together[i][0].log_probability);
      EXPECT_LT(alone.log_probability, 0);
      EXPECT_LE(alone.tokens, 30);
      EXPECT_GT(alone.prompt_tokens, 0);
    }
    options = {.sample = sample, .max_new_tokens = 30};
    if (sample) options.seed = 6;
    EXPECT_EQ(generator.Generate(kPrompts, options)[0][0].text == together[0][0].text, !sample);
  }
}

TEST_F(GeneratorTest, StopsBeforeStopStrings) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const GeneratedText whole = generator.Generate(kPrompts[0], {.max_new_tokens = 20});
  ASSERT_GT(whole.text.size(), 8U);
  ASSERT_EQ(ValidUtf8(whole.text), whole.text.size());
  std::size_t begin = whole.text.size() / 2;
  while (begin > 0 && (whole.text[begin] & 0xC0) == 0x80) --begin;
  const std::string stop = whole.text.substr(begin);
  const std::string expected = whole.text.substr(0, whole.text.find(stop));
  std::string pieces;
  GenerateOptions options{.max_new_tokens = 20, .stop = {"never", stop}};
  options.on_text = [&](std::size_t, std::string_view piece) { pieces += piece; };
  const GeneratedText stopped = generator.Generate(kPrompts[0], options);
  EXPECT_EQ(stopped.text, expected);
  EXPECT_EQ(pieces, expected);
  EXPECT_EQ(stopped.finish_reason, FinishReason::stop);
  EXPECT_LE(stopped.tokens, whole.tokens);
}

TEST_F(GeneratorTest, DefaultsToTheFoldersSettings) {
  const GeneratedText plain = TextGenerator::Load(folder.path()).Generate(kPrompts[0]);
  WriteFile(folder.File("generation_config.json"),
            R"({"max_new_tokens": 3, "eos_token_id": [0, 1], "do_sample": true, "top_k": 1, "bos_token_id": 2})");
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const GeneratedText told = generator.Generate(kPrompts[0]);
  EXPECT_THAT(plain.text, StartsWith(told.text));
  EXPECT_EQ(told.tokens, 3);
  EXPECT_EQ(told.finish_reason, FinishReason::length);
  EXPECT_EQ(generator.Generate(kPrompts[0], {.sample = false, .max_new_tokens = 5}).tokens, 5);
  EXPECT_LE(generator.Generate(kPrompts[0], {.beam_size = 3}).tokens, 3);
  WriteFile(folder.File("generation_config.json"), R"({"diversity_penalty": 0.5})");
  EXPECT_THAT(ErrorOf([&] { TextGenerator::Load(folder.path()); }), HasSubstr("generating with 0.5"));
}

TEST_F(GeneratorTest, UsesTheFoldersStopStrings) {
  const std::string whole = TextGenerator::Load(folder.path()).Generate(kPrompts[0], {.max_new_tokens = 20}).text;
  const auto boundary = [&](std::size_t at) {
    while ((whole[at] & 0xC0) == 0x80) ++at;
    return at;
  };
  const std::size_t begin = boundary(whole.size() / 2);
  const std::string stop = whole.substr(begin, boundary(begin + 1) - begin);
  WriteFile(folder.File("generation_config.json"),
            Json(Json::Object{{"max_new_tokens", 20}, {"stop_strings", Json::Array{"never", stop}}}).Text());
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const GeneratedText stopped = generator.Generate(kPrompts[0]);
  EXPECT_THAT(whole, StartsWith(stopped.text));
  EXPECT_LT(stopped.text.size(), whole.size());
  EXPECT_THAT(stopped.text, HasSubstr(stop));
  EXPECT_EQ(stopped.finish_reason, FinishReason::stop);
  EXPECT_EQ(generator.Generate(kPrompts[0], {.stop = {"never"}}).text, whole);
  const GeneratedText beams = generator.Generate(kPrompts[0], {.beam_size = 3});
  EXPECT_EQ(beams.finish_reason == FinishReason::stop, beams.text.find(stop) != std::string::npos);
  // Tests a stop string that begins in the prompt.
  const std::string across = kPrompts[0].substr(kPrompts[0].size() - 1) + whole.substr(0, boundary(1));
  WriteFile(folder.File("generation_config.json"), Json(Json::Object{{"stop_strings", across}}).Text());
  EXPECT_EQ(TextGenerator::Load(folder.path()).Generate(kPrompts[0]).tokens, 1);
  WriteFile(folder.File("generation_config.json"), R"({"stop_strings": [""]})");
  EXPECT_THAT(ErrorOf([&] { TextGenerator::Load(folder.path()); }), HasSubstr("stop_strings"));
}

TEST_F(GeneratorTest, CountsThePromptInTheFoldersLengths) {
  WriteFile(folder.File("generation_config.json"), R"({"max_length": 12, "min_length": 12})");
  const TextGenerator generator = TextGenerator::Load(folder.path());
  for (const auto& texts : generator.Generate(kPrompts)) EXPECT_EQ(texts[0].prompt_tokens + texts[0].tokens, 12);
  EXPECT_EQ(generator.Generate(kPrompts[0], {.max_new_tokens = 15, .min_new_tokens = 15}).tokens, 15);
  EXPECT_THAT(ErrorOf([&] { generator.Generate("A dog runs and runs and runs and runs."); }), HasSubstr("max_length"));
}

TEST_F(GeneratorTest, UsesTheFoldersNumberOfTexts) {
  WriteFile(folder.File("generation_config.json"),
            R"({"num_beams": 3, "num_return_sequences": 2, "max_new_tokens": 5})");
  const TextGenerator generator = TextGenerator::Load(folder.path());
  EXPECT_EQ(generator.n_best({}), 2);
  for (const auto& texts : generator.Generate(kPrompts)) EXPECT_EQ(texts.size(), 2U);
  for (const auto& texts : generator.Generate(kPrompts, {.n_best = 1})) EXPECT_EQ(texts.size(), 1U);
}

TEST_F(GeneratorTest, IsBatchInvariantUnderEverySetting) {
  for (
      const char* settings :
      {R"({"guidance_scale": 1.7, "suppress_tokens": [5], "exponential_decay_length_penalty": [2, 1.1])",
       R"({"do_sample": true, "min_p": 0.01, "typical_p": 0.9, "top_h": 0.95, "eta_cutoff": 0.001, "guidance_scale": 0.8)",
       R"({"num_beams": 3, "encoder_repetition_penalty": 1.4, "encoder_no_repeat_ngram_size": 2, "renormalize_logits": true)",
       R"({"bad_words_ids": [[7], [8, 9]], "sequence_bias": [[[3], 0.5]], "begin_suppress_tokens": [4], "min_length": 9)"}) {
    WriteFile(folder.File("generation_config.json"), settings + std::string(R"(, "max_new_tokens": 9})"));
    const TextGenerator generator = TextGenerator::Load(folder.path());
    const std::vector<std::vector<GeneratedText>> together = generator.Generate(kPrompts);
    for (std::size_t i = 0; i < kPrompts.size(); ++i) {
      const GeneratedText alone = generator.Generate(kPrompts[i], {.first_stream = i});
      EXPECT_EQ(alone.text, together[i][0].text) << settings;
      EXPECT_EQ(alone.log_probability, together[i][0].log_probability) << settings;
    }
  }
}

TEST_F(GeneratorTest, ReportsTheFinishReason) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const std::int64_t prompt = generator.Generate("A dog", {.max_new_tokens = 1}).prompt_tokens;
  const auto most = static_cast<std::int32_t>(41 - prompt);  // fills 40 positions, since the last token is not an input
  const GeneratedText full = generator.Generate("A dog", {.max_new_tokens = most + 1});
  ASSERT_EQ(full.tokens, most);
  EXPECT_EQ(full.finish_reason, FinishReason::positions);
  EXPECT_EQ(generator.Generate("A dog", {.max_new_tokens = most}).finish_reason, FinishReason::length);
  EXPECT_EQ(generator.Generate("A dog", {.max_new_tokens = 3}).finish_reason, FinishReason::length);
}

TEST_F(GeneratorTest, GeneratesSeveralTextsPerPrompt) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  GenerateOptions draws{.n_best = 3, .temperature = 3, .max_new_tokens = 8, .seed = 2};
  std::map<std::size_t, std::string> pieces;
  draws.on_text = [&](std::size_t text, std::string_view piece) { pieces[text] += piece; };
  const auto drawn = generator.Generate(kPrompts, draws);
  draws.on_text = {};
  ASSERT_EQ(drawn.size(), kPrompts.size());
  for (std::size_t prompt = 0; prompt < drawn.size(); ++prompt) {
    ASSERT_EQ(drawn[prompt].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(drawn[prompt][i].text, pieces[prompt * 3 + i]) << prompt << i;
  }
  EXPECT_NE(drawn[0][0].text, drawn[0][1].text);
  draws.first_stream = 1;
  EXPECT_EQ(generator.Generate({kPrompts[1]}, draws)[0][2].text, drawn[1][2].text);

  const GenerateOptions beams{.beam_size = 4, .n_best = 2, .max_new_tokens = 8};
  const auto best = generator.Generate({"A dog", "Two"}, beams);
  ASSERT_EQ(best.size(), 2U);
  ASSERT_EQ(best[1].size(), 2U);
  EXPECT_NE(best[1][0].text, best[1][1].text);
  EXPECT_EQ(best[1][0].text, generator.Generate("Two", {.beam_size = 4, .max_new_tokens = 8}).text);
}

TEST_F(GeneratorTest, ScoresEveryToken) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  std::string text = "A dog runs across the meadow.";
  const TextScore score = generator.Score({&text, 1}).front();
  double sum = 0;
  std::int32_t bytes = 0;
  for (const TokenScore& token : score.token_scores) {
    sum += token.log_probability.value();
    bytes += token.span.end - token.span.begin;
  }
  EXPECT_DOUBLE_EQ(sum, score.log_probability);
  EXPECT_EQ(score.tokens, std::ssize(score.token_scores));
  EXPECT_EQ(score.bytes, bytes);
  EXPECT_NEAR(score.perplexity(), std::exp(-sum / static_cast<double>(score.token_scores.size())), 1e-9);
  EXPECT_NEAR(score.bits_per_byte(), -sum / std::log(2) / bytes, 1e-9);

  // The text is longer than the model's 40 positions. Every token must be scored once, independently of the batch.
  for (int i = 0; i < 3; ++i) text += text;
  const std::vector<std::string> texts = {"dog", text, ""};
  const std::vector<TextScore> long_ones = generator.Score(texts);
  EXPECT_GT(long_ones[1].token_scores.size(), 80U);
  EXPECT_EQ(long_ones[1].tokens, std::ssize(long_ones[1].token_scores));
  for (const TokenScore& token : long_ones[1].token_scores) EXPECT_LT(token.log_probability.value(), 0);
  EXPECT_EQ(long_ones[1].log_probability, generator.Score({&texts[1], 1}, {.batch_tokens = 1}).front().log_probability);
  EXPECT_EQ(long_ones[2].tokens, 0);
  for (std::size_t i = 0; i < score.token_scores.size(); ++i)
    EXPECT_EQ(score.token_scores[i].log_probability, long_ones[1].token_scores[i].log_probability);
}

TEST_F(GeneratorTest, DivergenceFromABaseline) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const auto baseline = LoadModel<LanguageModel>(folder.path());
  for (const Parameter& parameter : baseline->parameters().all())
    for (float& weight : parameter.value.span<float>()) weight *= 1.5F;
  baseline->parameters().Pack();
  std::string text = kPrompts[0];
  for (int i = 0; i < 4; ++i) text += text;  // longer than a window
  const std::vector<std::string> texts = {text, kPrompts[0]};
  const ScoreOptions options{.start_token = false, .baseline = baseline.get()};
  const std::vector<TextScore> scores = generator.Score(texts, options);
  EXPECT_EQ(scores[0].divergence, generator.Score({texts.data(), 1}, options)[0].divergence);
  EXPECT_EQ(scores[0].log_probability, generator.Score(texts, {.start_token = false})[0].log_probability);
  EXPECT_EQ(generator.Score(texts, {.baseline = &generator.model()})[0].divergence, 0);

  // Compares with the definition for the text without other windows.
  std::vector<std::int32_t> ids;
  for (const TokenScore& token : scores[1].token_scores) ids.push_back(token.id);
  const auto length = static_cast<std::int32_t>(ids.size());
  Context context;
  const Tensor expected_logits = baseline->Logits(context, baseline->Decode(context, ids, {{0, length}}));
  const Tensor logits = generator.model().Logits(context, generator.model().Decode(context, ids, {{0, length}}));
  double expected = 0;
  for (std::int32_t row = 0; row + 1 < length; ++row) {
    const auto probability = [&](const Tensor& of, std::int64_t token) {
      const Matrix<float> all = of.matrix<float>();
      double sum = 0;
      for (std::int64_t i = 0; i < all.columns; ++i) sum += std::exp(all.row(row)[i] - all.row(row)[token]);
      return 1 / sum;
    };
    for (std::int64_t token = 0; token < logits.columns(); ++token) {
      const double p = probability(expected_logits, token);
      expected += p * std::log(p / probability(logits, token));
    }
  }
  EXPECT_GT(expected, 1e-4);
  EXPECT_NEAR(scores[1].divergence, expected, 1e-5 * expected);
}

// Compares with the goldens of tools/make_score_goldens.py.
TEST(TextGenerator, ScoresInWindowsLikeTransformers) {
  const TemporaryFolder folder;
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/gpt2/" + std::string(file), folder.File(file));
  const JsonView golden = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/pipelines/testdata/scores.json");
  Json::Object vocabulary;
  for (std::int64_t id = 0; id < golden["vocabulary"].Integer(); ++id)
    vocabulary.push_back({fmt::format("w{}", id), id});
  WriteFile(
      folder.File("tokenizer.json"),
      Json(Json::Object{{"added_tokens", Json::Array{}},
                        {"pre_tokenizer", Json::Object{{"type", "WhitespaceSplit"}}},
                        {"model", Json::Object{{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "w0"}}}})
          .Line());
  const TextGenerator generator = TextGenerator::Load(folder.path());
  int compared = 0;
  for (const JsonView& one : golden["cases"].Items()) {
    std::string text;
    for (const JsonView& id : one["ids"].Items()) text += fmt::format("w{} ", id.Integer());
    const TextScore score = generator
                                .Score({&text, 1}, {.max_input_length = one["window"].Integer(),
                                                    .window_step = one["stride"].Integer(),
                                                    .start_token = one["start_token"].Bool()})
                                .front();
    const std::vector<JsonView> expected = one["log_probabilities"].Items();
    ASSERT_EQ(score.tokens, std::ssize(expected));
    const std::size_t without = score.token_scores.size() - expected.size();
    EXPECT_EQ(without, one["start_token"].Bool() ? 0u : 1u);
    double sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i, ++compared) {
      EXPECT_NEAR(score.token_scores[i + without].log_probability.value(), expected[i].Number(), 1e-5);
      sum += expected[i].Number();
    }
    EXPECT_NEAR(score.perplexity(), std::exp(-sum / static_cast<double>(expected.size())), 1e-4 * score.perplexity());
  }
  EXPECT_GT(compared, 300);
}

TEST_F(GeneratorTest, RefusesImpossibleWindows) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const auto refusal = [&](const ScoreOptions& options) { return ErrorOf([&] { generator.Score({}, options); }); };
  EXPECT_EQ(refusal({.max_input_length = 41}),
            "`max_input_length` must be from 2 to the model's positions, 40, not 41");
  EXPECT_EQ(refusal({.max_input_length = 1}), "`max_input_length` must be from 2 to the model's positions, 40, not 1");
  EXPECT_EQ(refusal({.max_input_length = 8, .window_step = 8}),
            "`window_step` must be from 1 to 7, which is less than the window, not 8");
  EXPECT_EQ(refusal({.window_step = 0}), "`window_step` must be from 1 to 39, which is less than the window, not 0");
  EXPECT_EQ(refusal({.max_input_length = 2, .window_step = 1}), "");
}

TEST_F(GeneratorTest, RefusesImpossibleRequests) {
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const auto refusal = [&](const std::string& prompt, const GenerateOptions& options = {}) {
    return ErrorOf([&] { generator.Generate({&prompt, 1}, options); });
  };
  std::string many;
  for (int i = 0; i < 41; ++i) many += " dog";
  EXPECT_THAT(refusal(many), HasSubstr("prompt 1: it has "));
  EXPECT_THAT(refusal(many), HasSubstr("reads at most 40"));
  EXPECT_THAT(refusal("\xFF"), HasSubstr("prompt 1: byte 0"));
  EXPECT_THAT(refusal("a", {.stop = {""}}), HasSubstr("must not be empty"));
  EXPECT_THAT(refusal("a", {.temperature = 0}), HasSubstr("`temperature` must be"));
  EXPECT_THAT(refusal("a", {.top_p = 1.5}), HasSubstr("at most 1, not 1.5"));
  EXPECT_THAT(refusal("a", {.beam_size = 2, .sample = true}), HasSubstr("sampling is for a `beam_size`"));
  EXPECT_THAT(refusal("a", {.repetition_penalty = 0}), HasSubstr("`repetition_penalty` must be"));
  EXPECT_THAT(refusal("a", {.max_new_tokens = 0}), HasSubstr("at least 1, not 0"));
  EXPECT_THAT(refusal("a", {.length_penalty = 0.5}), HasSubstr("`length_penalty` is for"));
  EXPECT_THAT(refusal("a", {.seed = 1}), HasSubstr("`seed` is for sampling"));
  const TextGenerator drafting = TextGenerator::Load(folder.path(), {.draft = true});
  EXPECT_THAT(ErrorOf([&] { drafting.Generate(kPrompts, {.beam_size = 2}); }),
              HasSubstr("`draft` is for greedy choice"));
  EXPECT_THAT(refusal("a", {.max_new_tokens = 3, .min_new_tokens = 4}), HasSubstr("`min_new_tokens` must be from 0"));
  EXPECT_THAT(refusal("a", {.sample = false, .top_k = 3}), HasSubstr("which is off"));
  EXPECT_THAT(refusal("a", {.beam_size = 2, .n_best = 3}), HasSubstr("`n_best` must be from 1"));
  EXPECT_THAT(ErrorOf([&] { TextGenerator::Load(folder.path(), {.shortlist = true}); }),
              HasSubstr("shortlist is for a Translator"));
  int asked = 0;
  const GenerateOptions cancelled{.cancelled = [&] { return ++asked == 3; }};
  EXPECT_THROW(generator.Generate({kPrompts.data(), 1}, cancelled), Cancelled);
  EXPECT_EQ(asked, 3);

  std::string config = ReadFile(folder.File("config.json"));
  config.replace(config.find("\"bos_token_id\": 0"), 17, "\"bos_token_id\": null");
  WriteFile(folder.File("config.json"), config);
  const TextGenerator without = TextGenerator::Load(folder.path());
  const std::string nothing;
  EXPECT_THAT(ErrorOf([&] { without.Generate({&nothing, 1}); }), HasSubstr("prompt 1: it has no"));
  const TextScore score = without.Score({&kPrompts[0], 1}).front();
  EXPECT_FALSE(score.token_scores.front().log_probability.has_value());
  EXPECT_THAT(ErrorOf([&] { without.Score({}, {.start_token = true}); }), HasSubstr("`start_token`: the model has no"));
  EXPECT_EQ(score.tokens, std::ssize(score.token_scores) - 1);
  EXPECT_EQ(score.bytes, std::ssize(kPrompts[0]) - score.token_scores.front().span.end);
}

// Generates random tokens. Many tokens are bytes of incomplete characters.
TEST(TextGenerator, StreamsTheSameTextWithEveryTokenizer) {
  for (const char* kind : {"gpt2", "roberta", "gpt1", "t5", "byte_fallback", "bert_cased"}) {
    const TemporaryFolder folder;
    SaveTinyGpt(folder.path(), 400, kind);
    const TextGenerator generator = TextGenerator::Load(folder.path());
    const std::string prompt = "the dog";
    std::string pieces;
    GenerateOptions options{.temperature = 100, .max_new_tokens = 200, .min_new_tokens = 200, .seed = 3};
    options.stop = {"never in it"};
    options.on_text = [&](std::size_t, std::string_view piece) { pieces += piece; };
    const GeneratedText generated = generator.Generate(prompt, options);
    EXPECT_EQ(pieces, generated.text) << kind;
    options.on_text = {};
    options.stop = {};
    EXPECT_EQ(generator.Generate(prompt, options).text, generated.text) << kind;
  }
}

// The tokenizer of GPT-1 drops the space before the first word of a decoded text.
TEST(TextGenerator, KeepsTheSpaceBetweenPromptAndText) {
  const TemporaryFolder folder;
  SaveTinyGpt(folder.path(), 40, "gpt1");
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const std::string prompt = "the dog";
  std::string pieces;
  GenerateOptions options{.max_new_tokens = 12, .min_new_tokens = 12};
  options.on_text = [&](std::size_t, std::string_view piece) { pieces += piece; };
  const GeneratedText generated = generator.Generate(prompt, options);
  EXPECT_EQ(pieces, generated.text);
  EXPECT_THAT(generated.text, StartsWith(" "));
}

}  // namespace
}  // namespace headlight::generator_test

// Compares text-to-text generation of T5, BART and mBART with Hugging Face Transformers.
// tools/make_encoder_decoder_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/pipelines/translator.h"
#include "headlight/text/tokenizers/load_tokenizer.h"

namespace headlight::encoder_decoder_text_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/tests/testdata/encoder_decoders/" + name;
}

std::vector<std::string> Strings(const JsonView& array) {
  std::vector<std::string> strings;
  for (const JsonView& item : array.Items()) strings.push_back(item.String());
  return strings;
}

std::vector<std::string> Best(const Translator& translator, const std::vector<std::string>& texts,
                              const TranslateOptions& options = {}) {
  std::vector<std::string> best;
  for (const auto& translations : translator.TranslateBatch(texts, options)) best.push_back(translations.front().text);
  return best;
}

class EncoderDecoderText : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EncoderDecoderText, testing::Values("t5_text", "bart_text", "mbart_text"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(EncoderDecoderText, EqualsTransformers) {
  const JsonView golden = ReadJson(FolderOf(GetParam()) + "/golden.json");
  const std::vector<std::string> texts = Strings(golden["texts"]);
  const Translator translator = Translator::Load(FolderOf(GetParam()));
  for (const JsonView& expected : golden["cases"].Items()) {
    const JsonView options = expected["options"];
    const TranslateOptions translate{.task = options.Get("task", "").String(),
                                     .prefix = options.Get("prefix", "").String(),
                                     .source_language = options.Get("source_language", "").String(),
                                     .target_language = options.Get("target_language", "").String()};
    EXPECT_EQ(Best(translator, texts, translate), Strings(expected["expected"])) << options.value().Line();
  }
}

TEST_P(EncoderDecoderText, RecordsEveryAttention) {
  const Translator translator = Translator::Load(FolderOf(GetParam()));
  const AttentionRecord record = translator.Attention("Two dogs.", "Ein Buch.");
  CheckAttention(record);
  EXPECT_EQ(record.maps.size(), 3U);
  EXPECT_EQ(static_cast<std::int64_t>(record.source_tokens.size()), translator.CountTokens("Two dogs."));
  EXPECT_EQ(record.target_tokens.front(), "<s>");
  CheckAttention(translator.Attention("Two dogs."));
}

TEST(Summaries, UseTheFoldersSettings) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf("bart_text"), folder.path(), std::filesystem::copy_options::recursive);
  const std::vector<std::string> texts = {"A small dog runs across the green meadow.", "Two men, two dogs."};
  const std::vector<std::string> expected = Best(Translator::Load(folder.path()), texts);
  // The oldest checkpoints have the generation settings in config.json.
  const Json generation = ReadJson(folder.File("generation_config.json")).value();
  std::filesystem::remove(folder.File("generation_config.json"));
  Json config = ReadJson(folder.File("config.json")).value();
  for (const Json::Member& member : *generation.As<Json::Object>())
    if (!member.name.starts_with("_")) config.Set(member.name, member.value);
  WriteFile(folder.File("config.json"), config.Text());
  EXPECT_EQ(Best(Translator::Load(folder.path()), texts), expected);

  WriteFile(folder.File("generation_config.json"), R"({"diversity_penalty": 1.5})");
  EXPECT_THAT(ErrorOf([&] { Translator::Load(folder.path()); }), HasSubstr("diversity_penalty"));
  WriteFile(folder.File("generation_config.json"), R"({"repetition_penalty": 1, "early_stopping": 3})");
  EXPECT_THAT(ErrorOf([&] { Translator::Load(folder.path()); }), HasSubstr("early_stopping"));
  WriteFile(folder.File("generation_config.json"), R"({"max_length": 6})");
  EXPECT_FALSE(Translator::Load(folder.path()).TranslateBatch(texts)[0][0].complete);
}

TEST(Translations, OfLongTextsAreThoseOfTheirPartsWithPrefixes) {
  const Translator translator = Translator::Load(FolderOf("bart_text"));  // this model has 40 positions
  const std::string sentence = "Two men, two dogs.";
  const TranslateOptions options{.prefix = "A man: "};
  const Translation translation = translator.TranslateBatch({{sentence + " " + sentence}}, options)[0][0];
  EXPECT_EQ(translation.parts, 1 + (translator.CountTokens(sentence + " " + sentence, options) > 40 ? 1 : 0));
  std::string longer = sentence;
  while (translator.CountTokens(longer, options) <= 40) longer += " " + sentence;
  const Translation parted = translator.TranslateBatch({{longer}}, options)[0][0];
  EXPECT_GT(parted.parts, 1);
  EXPECT_LE(parted.tokens, 40 * parted.parts);
  EXPECT_GT(parted.tokens, translator.CountTokens(longer, options));
}

// Checks the language token. mBART's oldest checkpoints set the language by the decoder's first token.
TEST(Translations, BeginWithTheLanguageIfTheModelDoes) {
  const std::vector<std::string> texts = {"A small dog runs across the green meadow.", "Two men, two dogs."};
  const Translator mbart = Translator::Load(FolderOf("mbart_text"));
  const auto translate = [&](const char* start, const TranslateOptions& options) {
    const TemporaryFolder folder;
    std::filesystem::copy(FolderOf("mbart_text"), folder.path(), std::filesystem::copy_options::recursive);
    for (const char* file : {"config.json", "generation_config.json"}) {
      Json config = ReadJson(folder.File(file)).value();
      config.Set("decoder_start_token_id", mbart.tokenizer().FindSpecial(start).value());
      WriteFile(folder.File(file), config.Text());
    }
    return Best(Translator::Load(folder.path()), texts, options);
  };
  EXPECT_EQ(translate("de_DE", {.target_language = "en_XX"}), translate("en_XX", {}));
  EXPECT_NE(translate("de_DE", {}), translate("en_XX", {}));
}

TEST(Translations, SkipIdsBeyondTheTokenizers) {
  const std::shared_ptr<const Tokenizer> loaded = LoadTokenizer(FolderOf("t5_text"));
  const Tokenizer& tokenizer = *loaded;
  std::vector<std::int32_t> tokens = tokenizer.Encode("Two men");
  EXPECT_EQ(tokenizer.Decode(tokens), "Two men");
  tokens.insert(tokens.begin() + 1, tokenizer.size() + 3);  // a token of the model that is not in the tokenizer
  EXPECT_EQ(tokenizer.Decode(tokens), "Two men");
  EXPECT_EQ(tokenizer.Piece(tokenizer.size() + 3), "");
  EXPECT_EQ(tokenizer.after(), std::vector<std::int32_t>{1});
  EXPECT_TRUE(tokenizer.before().empty());
}

TEST(Translations, RefuseUnsupportedInput) {
  const Translator t5 = Translator::Load(FolderOf("t5_text")), mbart = Translator::Load(FolderOf("mbart_text"));
  const auto refused = [](const Translator& translator, const TranslateOptions& options) {
    return ErrorOf([&] { translator.TranslateBatch({}, options); });
  };
  EXPECT_THAT(refused(t5, {.task = "translation"}), HasSubstr("there are: summarization"));
  EXPECT_THAT(refused(t5, {.source_language = "de_DE"}), HasSubstr("no language 'de_DE'"));
  EXPECT_THAT(refused(t5, {.source_language = "<pad>"}), HasSubstr("no input for the source language"));
  EXPECT_THAT(refused(mbart, {.target_language = "two"}), HasSubstr("no such special token"));
  EXPECT_THAT(refused(mbart, {.no_repeat_ngram_size = -1}), HasSubstr("`no_repeat_ngram_size` must be"));
  EXPECT_THAT(ErrorOf([&] { mbart.Attention(std::string(200, 'a')); }), HasSubstr("reads at most 38"));
}

}  // namespace
}  // namespace headlight::encoder_decoder_text_test

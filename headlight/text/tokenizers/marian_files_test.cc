#include "headlight/text/tokenizers/marian_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

SentencePieceModel Small(const std::string& algorithm) {
  const std::string path = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/tokenizer_" + algorithm + ".model";
  return ParseSentencePieceModel(ReadFile(path), path);
}

template <typename Body>
std::string ErrorOf(const Body& body) {
  try {
    body();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::user);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
}
std::string VocabularyError(const std::string& text) {
  return ErrorOf([&] { ParseVocabularyJson(text, "vocab.json"); });
}
std::string ConfigError(const std::string& text) {
  return ErrorOf([&] { ParseTokenizerConfigJson(text, "config.json"); });
}
std::string TokenizerError(const std::string& text) {
  return ErrorOf([&] { ParseTokenizerJson(text, SpecialTokens(), "tokenizer.json"); });
}

TEST(TokenizerFiles, VocabularyComesBack) {
  const std::vector<std::string> pieces = {"</s>", "\u2581Hund", "\"", "\\", "日本", "a"};
  EXPECT_EQ(ParseVocabularyJson(VocabularyJson(pieces), "x"), pieces);
  EXPECT_EQ(VocabularyJson({"a", "\""}), "{\n  \"a\": 0,\n  \"\\\"\": 1\n}\n");
}

TEST(TokenizerFiles, RefusesBadVocabularies) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "vocab.json: byte 1: not valid JSON"},
      {"[]", "vocab.json: expected an object, got an array"},
      {"{\"a\": 0, \"b\": 0}", "'a' and 'b' have the same id 0"},
      {"{\"a\": 0, \"b\": 2}", "the id of 'b' must be a number from 0 to 1"},
      {"{\"a\": -1}", "the id of 'a'"},
      {"{\"a\": 0.5}", "the id of 'a'"},
      {"{\"a\": 1e99}", "the id of 'a'"},
      {"{\"a\": 18446744073709551616}", "the id of 'a'"},
      {"{\"a\": \"0\"}", "the id of 'a'"},
      {"{\"a\": 0, \"a\": 1}", "key 'a' stands twice"},
      {"{\"\xFF\": 0}", "vocab.json: byte 3: not valid JSON"},
      {"{\"\\ud800\": 0}", "vocab.json: "},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(VocabularyError(text), HasSubstr(message)) << text;
  EXPECT_THAT(VocabularyError(std::string(1 << 20, '[')), HasSubstr("nested more than 64 deep"));
  std::string deep;
  for (int level = 0; level < 100000; ++level) deep += "{\"a\":";
  EXPECT_THAT(VocabularyError(deep), HasSubstr("nested more than"));
}

TEST(TokenizerFiles, ReadsTheConfig) {
  const SpecialTokens special = ParseTokenizerConfigJson(
      R"({"eos_token": {"__type": "AddedToken", "content": "<end>"}, "unk_token": "<?>", "pad_token": null})", "x");
  EXPECT_EQ(special.eos, "<end>");
  EXPECT_EQ(special.unk, "<?>");
  EXPECT_EQ(special.pad, "<pad>");
  EXPECT_EQ(ParseTokenizerConfigJson(TokenizerConfigJson(special, 9), "x").eos, "<end>");
  EXPECT_THAT(ConfigError(R"({"separate_vocabs": true})"), HasSubstr("config.json: separate_vocabs is not supported"));
  EXPECT_THAT(ConfigError(R"({"eos_token": 3})"), HasSubstr("config.json: "));
  EXPECT_THAT(ConfigError(R"({"eos_token": {}})"), HasSubstr("config.json: "));
  EXPECT_THAT(ConfigError("[1]"), HasSubstr("config.json: expected an object"));
}

TEST(TokenizerFiles, TokenizerComesBack) {
  for (const std::string algorithm : {"bpe", "unigram"}) {
    const SentencePieceModel model = Small(algorithm);
    const std::string text = TokenizerJson(model, SpecialTokens());
    SentencePieceModel back = ParseTokenizerJson(text, SpecialTokens(), "tokenizer.json");
    EXPECT_EQ(back.normalization, "");  // its name is not in the file, its rules are
    back.normalization = model.normalization;
    EXPECT_EQ(SerializeSentencePieceModel(back), SerializeSentencePieceModel(model));
  }
}

TEST(TokenizerFiles, RefusesWhatItWouldNotWrite) {
  for (const std::string algorithm : {"bpe", "unigram"}) {
    const Json good = Json::parse(TokenizerJson(Small(algorithm), SpecialTokens()));
    ASSERT_EQ(TokenizerError(good.dump()), "");
    const std::pair<const char*, Json> changes[] = {
        {"/truncation", {{"max_length", 5}}},
        {"/padding", {{"strategy", "BatchLongest"}}},
        {"/added_tokens/0/special", false},
        {"/normalizer/normalizers/1", {{"type", "Lowercase"}}},
        {"/normalizer/normalizers/0/precompiled_charsmap", "AAAA!"},
        {"/pre_tokenizer", {{"type", "Whitespace"}}},
        {"/post_processor/single/1/SpecialToken/id", "<unk>"},
        {"/decoder/decoders/2/stop", 1},
        {"/model/byte_fallback", true},
        {"/model/vocab", nullptr},
    };
    for (const auto& [where, value] : changes) {
      Json changed = good;
      ASSERT_TRUE(changed.contains(Json::json_pointer(where))) << where;
      changed[Json::json_pointer(where)] = value;
      EXPECT_THAT(TokenizerError(changed.dump()), HasSubstr("tokenizer.json: ")) << where;
    }
    for (const auto& [key, value] : good.items()) {
      Json changed = good;
      changed.erase(key);
      EXPECT_THAT(TokenizerError(changed.dump()), HasSubstr(key)) << key;
    }
    Json more = good;
    more["future"] = 1;
    EXPECT_THAT(TokenizerError(more.dump()), HasSubstr("key 'future' is unknown"));
    EXPECT_THAT(TokenizerError(good.dump() + "x"), HasSubstr("tokenizer.json: "));
  }
  Json bpe = Json::parse(TokenizerJson(Small("bpe"), SpecialTokens()));
  bpe["model"]["merges"].erase(3);
  EXPECT_THAT(TokenizerError(bpe.dump()), HasSubstr("its \"model\" is not one that headlight writes"));
  bpe["model"]["type"] = "WordPiece";
  EXPECT_THAT(TokenizerError(bpe.dump()), HasSubstr("expected one of 'BPE', 'Unigram', got 'WordPiece'"));
  Json unigram = Json::parse(TokenizerJson(Small("unigram"), SpecialTokens()));
  unigram["model"]["vocab"][5][1] = 1e300;
  EXPECT_THAT(TokenizerError(unigram.dump()), HasSubstr("piece 5 has the score inf"));
}

TEST(TokenizerFiles, SurvivesEveryTruncation) {
  for (const std::string algorithm : {"bpe", "unigram"}) {
    const std::string text = TokenizerJson(Small(algorithm), SpecialTokens());
    for (std::size_t size = 0; size < text.size() - 2; size += 7) EXPECT_NE(TokenizerError(text.substr(0, size)), "");
  }
}

}  // namespace
}  // namespace headlight

#include "headlight/text/tokenizers/marian_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"

namespace headlight::marian_files_test {
namespace {

using testing::HasSubstr;

std::string VocabularyError(const std::string& text) {
  return ErrorOf([&] { ParseVocabularyJson(text, "vocab.json"); });
}
std::string ConfigError(const std::string& text) {
  return ErrorOf([&] { SpecialTokensOf(JsonView(ParseJson(text, "config.json"), "config.json")); });
}

TEST(MarianFiles, VocabularyRoundTrips) {
  const std::vector<std::string> pieces = {"</s>", "\u2581Hund", "\"", "\\", "日本", "a"};
  EXPECT_EQ(ParseVocabularyJson(VocabularyJson(pieces), "x"), pieces);
  EXPECT_EQ(VocabularyJson({"a", "\""}), "{\n  \"a\": 0,\n  \"\\\"\": 1\n}\n");
}

TEST(MarianFiles, RefusesBadVocabularies) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "vocab.json: byte 1: not valid JSON"},
      {"[]", "vocab.json: expected an object, got an array"},
      {"{\"a\": 0, \"b\": 0}", "'a' and 'b' have the same id 0"},
      {"{\"a\": 0, \"b\": 2}", "2 pieces have ids"},
      {"{\"a\": 0, \"b\": 99999999}", "the id of 'b'"},
      {"{\"a\": -1}", "the id of 'a'"},
      {"{\"a\": 0.5}", "the id of 'a'"},
      {"{\"a\": 1e99}", "the id of 'a'"},
      {"{\"a\": 18446744073709551616}", "the id of 'a'"},
      {"{\"a\": \"0\"}", "the id of 'a'"},
      {"{\"a\": 0, \"a\": 1}", "key 'a' occurs twice"},
      {"{\"\xFF\": 0}", "vocab.json: byte 3: not valid JSON"},
      {"{\"\\ud800\": 0}", "vocab.json: "},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(VocabularyError(text), HasSubstr(message)) << text;
  EXPECT_THAT(VocabularyError(std::string(1 << 20, '[')), HasSubstr("more than 64 deep"));
  std::string deep;
  for (int level = 0; level < 100000; ++level) deep += "{\"a\":";
  EXPECT_THAT(VocabularyError(deep), HasSubstr("nested more than"));
}

TEST(MarianFiles, ReadsTheConfig) {
  const auto read = [](std::string_view text) { return SpecialTokensOf(JsonView(ParseJson(text, "x"), "x")); };
  const SpecialTokens special =
      read(R"({"eos_token": {"__type": "AddedToken", "content": "<end>"}, "unk_token": "<?>", "pad_token": null})");
  EXPECT_EQ(special.eos, "<end>");
  EXPECT_EQ(special.unk, "<?>");
  EXPECT_EQ(special.pad, "<pad>");
  EXPECT_EQ(read(TokenizerConfigJson(special, 9)).eos, "<end>");
  EXPECT_THAT(ConfigError(R"({"separate_vocabs": true})"), HasSubstr("separate_vocabs"));
  EXPECT_THAT(ConfigError(R"({"eos_token": 3})"), HasSubstr("config.json: "));
  EXPECT_THAT(ConfigError(R"({"eos_token": {}})"), HasSubstr("config.json: "));
  EXPECT_THAT(ConfigError("[1]"), HasSubstr("expected an object"));
}

}  // namespace
}  // namespace headlight::marian_files_test

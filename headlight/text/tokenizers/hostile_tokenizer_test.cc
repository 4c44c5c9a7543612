// Tests hostile files that require more work or memory than their size justifies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight::hostile_tokenizer_test {
namespace {

using testing::HasSubstr;

PipelineTokenizer With(const char* key, Json part) {
  Json file = R"({"model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0, "a": 1}}})"_json;
  file.Set(key, std::move(part));
  return PipelineTokenizer::Parse(file.Line(), "t.json");
}

Json Repeated(std::size_t times, const Json& step) { return Json::Array(times, step); }

Json MakeTemplate(std::size_t parts, std::size_t ids) {
  const Json special = R"({"SpecialToken": {"id": "u", "type_id": 0}})"_json;
  Json json = R"({"type": "TemplateProcessing", "pair": []})"_json;
  json.Set("single", Repeated(parts, special));
  json.Set("special_tokens", Json::Object{{"u", Json::Object{{"ids", Repeated(ids, 0)}}}});
  return json;
}

TEST(HostileTokenizer, TokensAroundATextAreBounded) {
  EXPECT_EQ(With("post_processor", MakeTemplate(16, 16)).Encode("a").ids.size(), 256U);
  EXPECT_THAT(ErrorOf([] { With("post_processor", MakeTemplate(257, 1)); }), HasSubstr("key 'post_processor.single'"));
  EXPECT_THAT(ErrorOf([] { With("post_processor", MakeTemplate(2, 200)); }), HasSubstr("more than 256 tokens"));
  // A lookup of each template item among all tokens would take quadratic time.
  Json many = MakeTemplate(0, 0);
  Json::Array parts;
  Json::Object tokens;
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = std::to_string(i);
    tokens.push_back({name, Json::Object{{"ids", Json::Array{0}}}});
    parts.push_back(Json::Object{{"SpecialToken", Json::Object{{"id", name}, {"type_id", 0}}}});
  }
  many.Set("single", std::move(parts));
  many.Set("special_tokens", std::move(tokens));
  EXPECT_THAT(ErrorOf([&] { With("post_processor", many); }), HasSubstr("more than 256 tokens"));
  EXPECT_THAT(
      ErrorOf([] {
        With("post_processor", Json::Object{{"type", "Sequence"}, {"processors", Repeated(65, MakeTemplate(1, 1))}});
      }),
      HasSubstr("more than 64 steps"));
}

TEST(HostileTokenizer, NormalizedTextIsBounded) {
  const auto doubled = [](std::size_t times) {
    return SequenceJson("normalizers", std::vector<Json>(times, ReplaceJson("String", "a", "aa")));
  };
  EXPECT_EQ(With("normalizer", doubled(5)).Encode("aa", {.add_special = false}).ids.size(), 1U);
  const PipelineTokenizer tokenizer = With("normalizer", doubled(64));
  EXPECT_EQ(tokenizer.Encode("b").ids.size(), 1U);
  EXPECT_THAT(ErrorOf([&] { tokenizer.Encode("aaaa"); }), HasSubstr("4 bytes to more than 384"));
  EXPECT_THAT(ErrorOf([&] { With("normalizer", doubled(65)); }), HasSubstr("more than 64 steps"));
  EXPECT_THAT(ErrorOf([&] { With("normalizer", ReplaceJson("String", "a", std::string(257, 'a'))); }),
              HasSubstr("key 'normalizer.content': 257 bytes"));
  const Json prepend = Json::Object{{"type", "Prepend"}, {"prepend", std::string(200, 'a')}};
  EXPECT_THAT(
      ErrorOf([&] { With("normalizer", SequenceJson("normalizers", std::vector<Json>(10, prepend))).Encode("a"); }),
      HasSubstr("text of 1 bytes"));
  // Unicode's longest decomposition is accepted.
  std::string longest;
  for (int i = 0; i < 1000; ++i) longest += "\uFDFA";
  EXPECT_EQ(With("normalizer", R"({"type": "NFKD"})"_json).Encode(longest).spans.size(), 1U);
}

TEST(HostileTokenizer, AddedTokensAreBounded) {
  Json file = R"({"model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0}},
                  "added_tokens": [{"content": "aaaa", "id": 1, "normalized": true}]})"_json;
  file.Set("normalizer", SequenceJson("normalizers", std::vector<Json>(64, ReplaceJson("String", "a", "aa"))));
  EXPECT_THAT(ErrorOf([&] { PipelineTokenizer::Parse(file.Line(), "t"); }), HasSubstr("text of 4 bytes"));
}

TEST(HostileTokenizer, DecodedTextIsBounded) {
  std::vector<Json> steps(64, ReplaceJson("String", "a", "aa"));
  const PipelineTokenizer tokenizer = With("decoder", SequenceJson("decoders", steps));
  EXPECT_EQ(tokenizer.Decode(std::vector<std::int32_t>{0}), "u");
  EXPECT_THAT(ErrorOf([&] { tokenizer.Decode(std::vector<std::int32_t>{1}); }), HasSubstr("the decoders lengthen"));
  // Stripping must take linear time.
  const Json strip = R"({"type": "Strip", "content": "a", "start": 1000000, "stop": 1000000})"_json;
  const PipelineTokenizer strips = With("decoder", SequenceJson("decoders", {R"({"type": "Fuse"})"_json, strip}));
  EXPECT_EQ(strips.Decode(std::vector<std::int32_t>(500'000, 1)), "");
}

}  // namespace
}  // namespace headlight::hostile_tokenizer_test

// Compares vocabularies in GGUF with the same vocabularies in tokenizer.json.
#include "headlight/text/tokenizers/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/gguf_testing.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer_testing.h"

namespace headlight::gguf_tokenizer_test {
namespace {

using namespace pipeline_tokenizer_testing;
using testing::HasSubstr;

void ExpectTokensOf(const std::string& name, const std::string& family) {
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_" + name + ".gguf"));
  const PipelineTokenizer expected = Small(family);
  std::size_t tokens = 0;
  for (const std::string& text : Goldens()["texts"].Strings()) {
    const Encoding ids = tokenizer.Encode(text, {.add_special = false, .read_special = false});
    EXPECT_EQ(ids.ids, expected.Encode(text, {.add_special = false, .read_special = false}).ids) << Quoted(text);
    EXPECT_EQ(tokenizer.Decode(ids.ids, false), expected.Decode(ids.ids, false)) << Quoted(text);
    tokens += ids.ids.size();
  }
  EXPECT_GT(tokens, 500U);
}

TEST(GgufTokenizer, MatchesBytePairsOfBytes) {
  ExpectTokensOf("gpt2", "gpt2");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_gpt2.gguf"));
  const Encoding encoding = tokenizer.Encode("a dog");
  EXPECT_EQ(encoding.ids.back(), *tokenizer.Find("<|endoftext|>"));  // the file sets add_eos_token
  EXPECT_TRUE(tokenizer.IsSpecial(encoding.ids.back()));
}

TEST(GgufTokenizer, MatchesSentencePieceWithBytes) {
  ExpectTokensOf("llama", "byte_fallback");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_llama.gguf"));
  EXPECT_EQ(tokenizer.Encode("a dog").ids.front(), *tokenizer.Find("</s>"));  // the file's bos_token_id
}

TEST(GgufTokenizer, MatchesWordPiece) {
  ExpectTokensOf("bert", "bert_uncased");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_bert.gguf"));
  const Encoding pair = tokenizer.EncodePair("A dog", "runs"), same = Small("bert_uncased").EncodePair("A dog", "runs");
  EXPECT_EQ(pair.ids, same.ids);
  EXPECT_EQ(pair.type_ids, same.type_ids);
}

TEST(GgufTokenizer, MatchesUnigrams) {
  ExpectTokensOf("t5", "t5");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_t5.gguf"));
  EXPECT_EQ(tokenizer.Encode("a dog").ids.back(), *tokenizer.Find("</s>"));
}

// Checks that the scores of unused pieces and added tokens do not lower the score of unknown characters.
TEST(GgufTokenizer, NeverMatchesUnusedPieces) {
  const TemporaryFolder folder;
  gguf_testing::Builder builder;
  builder.Set("tokenizer.ggml.model", "t5").Set("tokenizer.ggml.eos_token_id", 1);
  builder.Set("tokenizer.ggml.tokens",
              std::vector<std::string>{"<unk>", "</s>", "\u2581", "a", "bc", "[P]", "<x>", "cd", "d"});
  builder.Set("tokenizer.ggml.token_type", std::vector<int>{2, 3, 1, 1, 1, 5, 4, 1, 1});
  builder.Set("tokenizer.ggml.scores", std::vector<float>{0, 0, -1, -2, -30, -10000, -1000, -1, -25});
  WriteFile(folder.File("x.gguf"), builder.File());
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder.File("x.gguf"));
  EXPECT_EQ(tokenizer.Encode("a[P]").ids, (std::vector<std::int32_t>{2, 3, 0, 1}));
  EXPECT_EQ(tokenizer.Encode("bc<x>").ids, (std::vector<std::int32_t>{2, 4, 6, 1}));
  EXPECT_EQ(tokenizer.Encode("bcd").ids, (std::vector<std::int32_t>{2, 0, 7, 1}));  // -40 and -1 against -30 and -25
}

TEST(GgufTokenizer, MatchesMergesOfCharacters) {
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_gemma4.gguf"));
  const PipelineTokenizer expected = Small("byte_fallback");  // adds a space before a text
  for (const std::string& text : Goldens()["texts"].Strings()) {
    if (text.empty()) continue;
    const Encoding ids = tokenizer.Encode(" " + text, {.add_special = false, .read_special = false});
    EXPECT_EQ(ids.ids, expected.Encode(text, {.add_special = false, .read_special = false}).ids) << Quoted(text);
  }
  EXPECT_EQ(tokenizer.Encode("a dog").ids.front(), *tokenizer.Find("</s>"));  // in spite of add_bos_token
}

TEST(GgufTokenizer, RefusesWrongVocabularies) {
  const auto refusal = [](const gguf_testing::Builder& builder) {
    const TemporaryFolder folder;
    WriteFile(folder.File("x.gguf"), builder.File());
    return ErrorOf([&] { PipelineTokenizer::Load(folder.File("x.gguf")); });
  };
  const auto file = [](const char* kind) {
    gguf_testing::Builder builder;
    builder.Set("tokenizer.ggml.model", kind).Set("tokenizer.ggml.pre", "gpt-2");
    builder.Set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "ab", "[UNK]", "[CLS]"});
    builder.Set("tokenizer.ggml.token_type", std::vector<int>{1, 1, 1, 2, 3});
    builder.Set("tokenizer.ggml.scores", std::vector<float>(5, 0));
    return builder.Set("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
  };
  for (const char* kind : {"gpt2", "llama", "gemma4", "bert", "t5"}) EXPECT_EQ(refusal(file(kind)), "") << kind;
  const std::vector<std::pair<gguf_testing::Builder, const char*>> cases = {
      {file("rwkv"), "key 'tokenizer.ggml.model'"},
      {file("gpt2").Remove("tokenizer.ggml.pre"), "key 'tokenizer.ggml.pre': is missing"},
      {file("gpt2").Set("tokenizer.ggml.pre", "default"), "'default' is not known; known are: a.x-4.0, bailingmoe"},
      {file("gpt2").Remove("tokenizer.ggml.merges"), "key 'tokenizer.ggml.merges'"},
      {file("gpt2").Set("tokenizer.ggml.merges", std::vector<std::string>{"ab"}), "'ab' is not two pieces"},
      {file("gpt2").Set("tokenizer.ggml.merges", std::vector<std::string>{"b a"}), "needs \"ba\""},
      {file("gpt2").Set("tokenizer.ggml.merges", std::vector<std::string>{"a \xff"}), "key 'tokenizer.ggml.merges'"},
      {file("gpt2").Set("tokenizer.ggml.merges", std::vector<int>{1}), "key 'tokenizer.ggml.merges'"},
      {file("gemma4").Set("tokenizer.ggml.merges", std::vector<std::string>{"a c"}), "needs \"c\""},
      {file("gpt2").Set("tokenizer.ggml.tokens", std::vector<std::string>(5, "a")), "needs \"b\""},
      {file("gpt2").Set("tokenizer.ggml.token_type", std::vector<int>{1}), "1 types"},
      {file("gpt2").Set("tokenizer.ggml.token_type", std::vector<int>{1, 1, 9, 2, 3}), "unknown type 9"},
      {file("llama").Set("tokenizer.ggml.scores", std::vector<float>{1}), "1 scores"},
      {file("llama").Set("tokenizer.ggml.scores", std::vector<float>(5, std::nanf(""))), "token 0 has the score nan"},
      {file("llama").Set("tokenizer.ggml.tokens", std::vector<std::string>(5, std::string(1'000'000, 'a'))),
       "1000000 bytes"},
      {file("gpt2").Set("tokenizer.ggml.tokens", std::vector<std::string>(5, "\xff")), "token 0"},
      {file("bert").Set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "a", "[UNK]", "[CLS]"}),
       "'##a' is there twice"},
      {file("bert").Set("tokenizer.ggml.unknown_token_id", 5), "key 'tokenizer.ggml.unknown_token_id'"},
      {file("bert").Set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "c", "d", "e"}), "[UNK]"},
      {file("t5").Set("tokenizer.ggml.token_type", std::vector<int>(5, 1)), "the type of unknown ones"},
      {file("t5").Set("tokenizer.ggml.precompiled_charsmap", std::vector<int>{9, 0, 0, 0, 1}), "charsmap"},
      {file("t5").Set("tokenizer.ggml.tokens", std::vector<std::string>()).Set("tokenizer.ggml.eos_token_id", 0),
       "do not fit together"},
      {file("t5").Set("tokenizer.ggml.eos_token_id", 5), "key 'tokenizer.ggml.eos_token_id'"},
      {file("gpt2").Set("tokenizer.ggml.bos_token_id", 5).Set("tokenizer.ggml.add_bos_token", true),
       "key 'tokenizer.ggml.bos_token_id'"}};
  for (const auto& [builder, message] : cases) EXPECT_THAT(refusal(builder), HasSubstr(message));
}

TEST(GgufTokenizer, HidesTheEndOfAReply) {
  const TemporaryFolder folder;
  gguf_testing::Builder builder;
  builder.Set("tokenizer.ggml.model", "llama").Set("tokenizer.ggml.scores", std::vector<float>(4, 0));
  builder.Set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "a", "<end_of_turn>", "<b>"});
  builder.Set("tokenizer.ggml.token_type", std::vector<int>{2, 1, 4, 4});
  WriteFile(folder.File("x.gguf"), builder.File());
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder.File("x.gguf"));
  EXPECT_EQ(tokenizer.Decode(std::vector<std::int32_t>{1, 3, 2}), "a<b>");
}

TEST(GgufTokenizer, NamesWhatIsMissing) {
  // The file of this model has no vocabulary.
  const std::string path = HEADLIGHT_SOURCE_DIR "/tests/testdata/gguf/qwen2.gguf";
  EXPECT_THAT(ErrorOf([&] { TokenizerJsonOfGguf(Gguf(path)); }), HasSubstr("key 'tokenizer.ggml.model'"));
}

}  // namespace
}  // namespace headlight::gguf_tokenizer_test

// Vocabularies in GGUF against the same as tokenizer.json.
#include "headlight/text/tokenizers/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

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
  EXPECT_EQ(encoding.ids.back(), *tokenizer.Find("<|endoftext|>"));  // add_eos_token
  EXPECT_TRUE(tokenizer.IsSpecial(encoding.ids.back()));
}

TEST(GgufTokenizer, MatchesSentencePieceWithBytes) {
  ExpectTokensOf("llama", "byte_fallback");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TestData("gguf_llama.gguf"));
  EXPECT_EQ(tokenizer.Encode("a dog").ids.front(), *tokenizer.Find("</s>"));  // the file's bos_token_id
}

TEST(GgufTokenizer, NamesWhatIsMissing) {
  // A file of a model without a vocabulary.
  const std::string path = HEADLIGHT_SOURCE_DIR "/tests/testdata/gguf/qwen2.gguf";
  EXPECT_THAT(ErrorOf([&] { TokenizerJsonOfGguf(Gguf(path)); }), HasSubstr("key 'tokenizer.ggml.model'"));
}

}  // namespace
}  // namespace headlight::gguf_tokenizer_test

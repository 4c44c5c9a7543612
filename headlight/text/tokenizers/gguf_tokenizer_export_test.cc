// Checks that tokenizers exported to GGUF give the same tokens after loading.
#include "headlight/text/tokenizers/gguf_tokenizer_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer_testing.h"

namespace headlight::gguf_tokenizer_export_test {
namespace {

using namespace pipeline_tokenizer_testing;
using testing::HasSubstr;

constexpr std::int64_t kVocabulary = 700;

struct GgufTokenizerExport : testing::Test {
  const TemporaryFolder folder;
  const std::string path = folder.File("tokenizer.gguf");

  // Exports a folder with this tokenizer.json and returns the GGUF file.
  Gguf Exported(const std::string& tokenizer, const std::string& config = R"({"vocab_size": 700})") const {
    WriteFile(folder.File("tokenizer.json"), tokenizer);
    GgufMetadata metadata;
    SetGgufTokenizer(folder.path(), JsonView(ParseJson(config, "config.json"), "config.json"), metadata);
    GgufWriter(path, metadata, {}).Commit();
    return Gguf(path);
  }

  void ExpectSameTokens(const std::string& family) const {
    const Gguf file = Exported(ReadFile(TestData("family_" + family + ".json")));
    EXPECT_EQ(file.Array("tokenizer.ggml.tokens").size(), kVocabulary);
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(path),
                            expected = PipelineTokenizer::Load(folder.path());
    for (const std::string& text : Goldens()["texts"].Strings()) {
      constexpr EncodeOptions as_text = {.read_special = false};
      const Encoding ids = expected.Encode(text, as_text);
      EXPECT_EQ(tokenizer.Encode(text, as_text).ids, ids.ids) << Quoted(text);
      EXPECT_EQ(tokenizer.Decode(ids.ids, false), expected.Decode(ids.ids, false)) << Quoted(text);
    }
  }
};

TEST_F(GgufTokenizerExport, KeepsTheTokensOfBytePairs) { ExpectSameTokens("gpt2"); }
TEST_F(GgufTokenizerExport, KeepsTheTokensOfSentencePiece) { ExpectSameTokens("byte_fallback"); }

TEST_F(GgufTokenizerExport, KeepsTheTokensOfUnigrams) {
  ExpectSameTokens("t5");
  EXPECT_EQ(Gguf(path).Integer("tokenizer.ggml.unknown_token_id", 0, kVocabulary), 2);
}

TEST_F(GgufTokenizerExport, KeepsTheTokensOfWordPiece) {
  ExpectSameTokens("bert_uncased");
  const PipelineTokenizer expected = Small("bert_uncased");
  const Encoding pair = PipelineTokenizer::Load(path).EncodePair("A dog", "runs");
  EXPECT_EQ(pair.ids, expected.EncodePair("A dog", "runs").ids);
  EXPECT_EQ(pair.type_ids, expected.EncodePair("A dog", "runs").type_ids);
  // llama.cpp reads the first token from this key.
  EXPECT_EQ(Gguf(path).Integer("tokenizer.ggml.bos_token_id", 0, kVocabulary), expected.Find("[CLS]"));
}

TEST_F(GgufTokenizerExport, ReadsOlderFiles) {
  WriteFile(folder.File("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\n");
  WriteFile(folder.File("config.json"), R"({"model_type": "bert"})");
  GgufMetadata metadata;
  SetGgufTokenizer(folder.path(), JsonView(ParseJson(R"({"vocab_size": 7})", "config.json"), "config.json"), metadata);
  GgufWriter(path, metadata, {}).Commit();
  EXPECT_EQ(PipelineTokenizer::Load(path).Encode("A ab").ids, (std::vector<std::int32_t>{2, 4, 4, 5, 3}));
}

TEST_F(GgufTokenizerExport, FollowsTheSettings) {
  WriteFile(folder.File("tokenizer_config.json"),
            R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false, "strip_accents": true})");
  const Gguf file = Exported(ReadFile(TestData("family_bert_uncased.json")));
  EXPECT_FALSE(file.Flag("tokenizer.ggml.normalizer.lowercase"));
  EXPECT_TRUE(file.Flag("tokenizer.ggml.normalizer.strip_accents"));
}

TEST_F(GgufTokenizerExport, SetsSpecialTokensAndTheChatTemplate) {
  WriteFile(folder.File("tokenizer_config.json"), R"({"chat_template": "{{ messages }}"})");
  const Gguf file = Exported(ReadFile(TestData("family_gpt2.json")),
                             R"({"vocab_size": 700, "eos_token_id": [3, 5], "pad_token_id": 4})");
  EXPECT_EQ(file.Integer("tokenizer.ggml.eos_token_id", 0, kVocabulary), 3);
  EXPECT_EQ(file.Integer("tokenizer.ggml.padding_token_id", 0, kVocabulary), 4);
  EXPECT_FALSE(file.contains("tokenizer.ggml.bos_token_id"));
  EXPECT_EQ(file.Text("tokenizer.ggml.pre"), "gpt-2");
  EXPECT_EQ(file.Text("tokenizer.chat_template"), "{{ messages }}");
  EXPECT_EQ(file.Array("tokenizer.ggml.token_type").Integers().back(), 5);  // ids without a token are unused
}

TEST_F(GgufTokenizerExport, WritesModelsWithoutATokenizer) {
  GgufMetadata metadata;
  SetGgufTokenizer(folder.path(), JsonView(ParseJson(R"({"vocab_size": 9})", "config.json"), "config.json"), metadata);
  GgufWriter(path, metadata, {}).Commit();
  EXPECT_EQ(Gguf(path).Text("tokenizer.ggml.model"), "no_vocab");
}

TEST_F(GgufTokenizerExport, RefusesWhatTheFormatLacks) {
  const auto refusal = [&](const std::string& family, const std::string& from, const std::string& to,
                           const std::string& config = R"({"vocab_size": 700})") {
    std::string json = ReadFile(TestData("family_" + family + ".json"));
    if (const std::size_t at = json.find(from); at != std::string::npos) json.replace(at, from.size(), to);
    return ErrorOf([&] { Exported(json, config); });
  };
  EXPECT_THAT(refusal("bert_uncased", R"("max_input_chars_per_word":100)", R"("max_input_chars_per_word":90)"),
              HasSubstr("max_input_chars_per_word"));
  EXPECT_THAT(refusal("bert_uncased", "BertPreTokenizer", "Whitespace"), HasSubstr("BertPreTokenizer"));
  EXPECT_THAT(refusal("t5", R"("prepend_scheme":"always")", R"("prepend_scheme":"first")"),
              HasSubstr("prepend_scheme"));
  EXPECT_THAT(refusal("t5", "WhitespaceSplit", "Whitespace"), HasSubstr("Metaspace"));
  EXPECT_THAT(refusal("bert_cased", "", ""), HasSubstr("handle_chinese_chars"));
  EXPECT_THAT(refusal("gpt2", "", "", R"({"vocab_size": 7})"), HasSubstr("more than the model's 7"));
  EXPECT_THAT(refusal("roberta_prefix", "", ""), HasSubstr("add_prefix_space"));
}

}  // namespace
}  // namespace headlight::gguf_tokenizer_export_test

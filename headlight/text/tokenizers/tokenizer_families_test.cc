#include "headlight/text/tokenizers/tokenizer_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::tokenizer_families_test {
namespace {

using testing::HasSubstr;

TokenizerFamily Family(const char* tokenizer_class, const char* model_type = "") {
  return FamilyOf(tokenizer_class, model_type, "config");
}

TEST(TokenizerFamilies, FollowFromTheClass) {
  EXPECT_EQ(Family("BertTokenizer"), TokenizerFamily::bert);
  EXPECT_EQ(Family("DistilBertTokenizerFast", "t5"), TokenizerFamily::bert);
  EXPECT_EQ(Family("BartTokenizer", "mbart"), TokenizerFamily::roberta);
  EXPECT_EQ(Family("MBart50TokenizerFast", "mbart"), TokenizerFamily::mbart50);
  EXPECT_EQ(Family("LlamaTokenizerFast"), TokenizerFamily::llama);
  EXPECT_EQ(Family("CodeLlamaTokenizer"), TokenizerFamily::pipeline);
}

TEST(TokenizerFamilies, FollowFromTheModelIfTheClassIsGeneric) {
  for (const char* any : {"", "PreTrainedTokenizerFast", "TokenizersBackend"}) {
    EXPECT_EQ(Family(any, "t5"), TokenizerFamily::t5) << any;
    EXPECT_EQ(Family(any, "byt5"), TokenizerFamily::unknown) << any;
    EXPECT_EQ(Family(any), TokenizerFamily::unknown) << any;
  }
}

TEST(TokenizerFamilies, ErrorsNameUnsupportedClasses) {
  for (const char* other : {"BertJapaneseTokenizer", "BertweetTokenizer", "PhobertTokenizer", "RoFormerTokenizerFast",
                            "ByT5Tokenizer", "XLMTokenizer", "Bert", "bertTokenizer", "FastFast", "MyTokenizer"}) {
    const std::string error = ErrorOf([&] { Family(other, "bert"); });
    EXPECT_THAT(error, HasSubstr(std::string("config: tokenizer_class '") + other + "' is not supported")) << other;
  }
}

// Checks that the class can be declared in config.json or tokenizer_config.json, with and without a tokenizer.json.
TEST(TokenizerFamilies, OfFoldersAreChecked) {
  const std::string whole = ReadFile(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_cased.json");
  for (const char* file : {"config.json", "tokenizer_config.json"})
    for (const bool has_json : {false, true}) {
      const TemporaryFolder folder;
      const auto load = [&](const char* name) {
        WriteFile(folder.File(file), std::string(R"({"tokenizer_class": ")") + name + "\"}");
        return ErrorOf([&] { PipelineTokenizer::Load(folder.path()); });
      };
      WriteFile(folder.File("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
      if (has_json) WriteFile(folder.File("tokenizer.json"), whole);
      EXPECT_EQ(load("BertTokenizer"), "");
      EXPECT_THAT(load("BertJapaneseTokenizer"), HasSubstr(std::string(file) + ": tokenizer_class 'BertJapanese"));
      const std::string of_other_rules = load("MPNetTokenizer");
      EXPECT_EQ(of_other_rules.empty(), has_json) << of_other_rules;
    }
}

}  // namespace
}  // namespace headlight::tokenizer_families_test

#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/testing.h"

namespace headlight {
namespace {

using testing::HasSubstr;

struct TokenizeTest : testing::Test {
  // A folder with the small tokenizer of that family.
  std::string Folder(const std::string& family) {
    const std::string to = folder.File(family);
    std::filesystem::create_directories(to);
    WriteFile(to + "/tokenizer.json",
              ReadFile(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_" + family + ".json"));
    return to;
  }

  TemporaryFolder folder;
};

TEST_F(TokenizeTest, PrintsTokensIdsOrEverything) {
  const std::string bert = Folder("bert_uncased");
  EXPECT_EQ(RunProgram({"tokenize", bert}, "The dog.\n\n").out, "[CLS] the dog . [SEP]\n[CLS] [SEP]\n");
  EXPECT_EQ(RunProgram({"tokenize", bert, "--no-special"}, "The dog.\n").out, "the dog .\n");
  EXPECT_EQ(RunProgram({"tokenize", bert, "--no-special"}, "[MASK]\n").out, "[MASK]\n");
  EXPECT_THAT(RunProgram({"tokenize", bert, "--no-special", "--plain"}, "[MASK]\n").out, Not(HasSubstr("[MASK]")));
  const Json row = ParseJson(RunProgram({"tokenize", bert, "--json"}, "\u00c9 dog").out, "row");
  EXPECT_EQ(*row.Find("pieces"), Json(Json::Array{"[CLS]", "e", "dog", "[SEP]"}));
  EXPECT_EQ(row.Find("byte_spans")->Line(), "[[0,0],[0,2],[3,6],[0,0]]");
  EXPECT_EQ(row.Find("character_spans")->Line(), "[[0,0],[0,1],[2,5],[0,0]]");
  EXPECT_EQ(row.Find("type_ids")->Line(), "[0,0,0,0]");
}

TEST_F(TokenizeTest, DecodesToTheText) {
  const std::string gpt = Folder("gpt2");
  const std::string text = "A dog runs, it's \u00e9\u65e5\u672c  fast.\n\nTwo dogs.\n";
  const std::string ids = RunProgram({"tokenize", gpt, "--ids"}, text).out;
  EXPECT_EQ(RunProgram({"tokenize", gpt, "--decode"}, ids).out, text);
  WriteFile(folder.File("in.txt"), text);
  EXPECT_EQ(RunProgram({"tokenize", gpt, "--ids", "--threads", "1", folder.File("in.txt")}).out, ids);
  const Outcome bad = RunProgram({"tokenize", gpt, "--decode"}, "1 2\n1 99999 2\n");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("standard input: line 2: '99999' is not the id of a token in the vocabulary of"));
  EXPECT_EQ(RunProgram({"tokenize", gpt, "--decode"}, "1 x\n").exit_code, 2);
  EXPECT_THAT(RefusalOf({"tokenize", folder.File("")}), HasSubstr("/tokenizer.json is missing; a tokenizer is that"));
}

TEST_F(TokenizeTest, LearnsATokenizer) {
  WriteFile(folder.File("a"), "A small dog runs.\nA dog sleeps.\n");
  WriteFile(folder.File("b"), "A dog [MASK] runs.");
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",          "tokenizer", folder.File("a"),
                                          folder.File("b"), "--out",     folder.File("new/tokens")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  };
  const Outcome outcome =
      train({"--byte-level", "--vocabulary-size", "265", "--special", "[MASK]", "--special", "<s>"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("new/tokens/tokenizer.json: 265 tokens"));
  EXPECT_EQ(RunProgram({"tokenize", folder.File("new/tokens"), "--ids"}, "<s>[MASK]").out, "1 0\n");
  EXPECT_EQ(RunProgram({"tokenize", folder.File("new/tokens")}, "A dog").out, "A \u0120dog\n");
  const Outcome small = train({"--algorithm", "unigram", "--vocabulary-size", "5"});
  EXPECT_EQ(small.exit_code, 2);
  EXPECT_THAT(small.err, HasSubstr("the vocabulary size is 5, less than this text's characters"));
  EXPECT_EQ(RunProgram({"tokenize", folder.File("new/tokens"), "--ids"}, "<s>").out, "1\n");  // the old one
  std::filesystem::remove(folder.File("b"));
  EXPECT_THAT(train({"--byte-level"}).err, HasSubstr("/b: "));
}

}  // namespace
}  // namespace headlight

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"

namespace headlight::tokenize_test {
namespace {

using testing::HasSubstr;

struct TokenizeTest : testing::Test {
  // Returns a folder with the small tokenizer of a family.
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

TEST(TokenizeMarian, CutsEitherSideOfATranslationModel) {
  const std::string data = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/tokenizer_marian";
  const MarianTokenizer tokenizer = MarianTokenizer::Load(data);
  const std::string text = "Ein Hund läuft.";
  for (const Side side : {Side::source, Side::target}) {
    std::vector<std::int32_t> ids = tokenizer.Encode(text, side);
    const std::string name = side == Side::source ? "source" : "target";
    const auto run = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"tokenize", data, "--side", name});
      return RunProgram(more, text + "\n").out;
    };
    EXPECT_EQ(run({"--ids", "--no-special"}), fmt::format("{}\n", fmt::join(ids, " ")));
    ids.push_back(tokenizer.eos());
    EXPECT_EQ(run({"--ids"}), fmt::format("{}\n", fmt::join(ids, " ")));
    EXPECT_THAT(run({}), testing::EndsWith(" </s>\n"));
    const Json row = ParseJson(run({"--json"}), "row");
    EXPECT_EQ(row.Find("byte_spans")->As<Json::Array>()->size(), ids.size());
  }
  EXPECT_EQ(RunProgram({"tokenize", data}, text + "\n").out,
            RunProgram({"tokenize", data, "--side", "source"}, text + "\n").out);
  const std::string ids = RunProgram({"tokenize", data, "--ids"}, "Ein Hund\n").out;
  EXPECT_EQ(RunProgram({"tokenize", data, "--decode"}, ids).out, tokenizer.Decode(tokenizer.Encode("Ein Hund")) + "\n");
}

// Tests commands with models of the wrong family. A Marian model also has a tokenizer.json for other programs, but
// headlight uses its SentencePiece tokenizers.
struct WrongFamilyTest : ProgramTest {};

TEST_F(WrongFamilyTest, IsReportedBeforeTheTokenizerIsRead) {
  EXPECT_EQ(RunProgram({"tokenize", model}, "Ein Hund\n").exit_code, 0);
  const std::string file = Write("in.txt", "a\tb\n");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"fill-mask", model, file},
           {"classify", model, file},
           {"tag", model, file},
           {"embed", model, file},
           {"train", "masked-language-model", "--train", file, "--valid", file, "--from", model, "--out", file + ".m"}})
    EXPECT_THAT(RefusalOf(command),
                testing::AllOf(HasSubstr(model + ": is a marian model"), HasSubstr("a text encoder")))
        << command[0];
  EXPECT_THAT(RefusalOf({"generate", model, "a"}), HasSubstr("is a marian model"));
  const std::string classes = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify";
  EXPECT_THAT(RefusalOf({"translate", classes, file}), HasSubstr("is a bert model"));
  EXPECT_THAT(RefusalOf({"fill-mask", classes, file}), HasSubstr("no head for masked words"));
  EXPECT_THAT(RefusalOf({"tokenize", classes, file, "--side", "target"}), HasSubstr("which have two tokenizers"));
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
  EXPECT_THAT(bad.err, HasSubstr("standard input: line 2: '99999'"));
  EXPECT_EQ(RunProgram({"tokenize", gpt, "--decode"}, "1 x\n").exit_code, 2);
  EXPECT_THAT(RefusalOf({"tokenize", folder.File("")}), HasSubstr("/tokenizer.json is missing"));
}

TEST_F(TokenizeTest, TrainsATokenizer) {
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
  const Outcome small = train({"--subword-type", "unigram", "--vocabulary-size", "5"});
  EXPECT_EQ(small.exit_code, 2);
  EXPECT_THAT(small.err, HasSubstr("--vocabulary-size is 5"));
  EXPECT_EQ(RunProgram({"tokenize", folder.File("new/tokens"), "--ids"}, "<s>").out, "1\n");  // previous tokenizer
  // Transformers' AutoTokenizer needs this file.
  const JsonView config = ReadJson(folder.File("new/tokens/tokenizer_config.json"));
  EXPECT_EQ(config["tokenizer_class"].String(), "PreTrainedTokenizerFast");
  EXPECT_EQ(config["mask_token"].String(), "[MASK]");
  EXPECT_EQ(config["bos_token"].String(), "<s>");
  EXPECT_FALSE(config["pad_token"].present());
  // Trains with another set of special tokens.
  EXPECT_EQ(train({"--byte-level", "--vocabulary-size", "260", "--special", "<pad>"}).exit_code, 0);
  const JsonView again = ReadJson(folder.File("new/tokens/tokenizer_config.json"));
  EXPECT_FALSE(again["mask_token"].present());
  EXPECT_EQ(again["pad_token"].String(), "<pad>");
  std::filesystem::remove(folder.File("b"));
  EXPECT_THAT(train({"--byte-level"}).err, HasSubstr("/b: "));
}

TEST_F(TokenizeTest, NeverSpoilsAModelOrAnotherTokenizer) {
  const std::string text = folder.File("a");
  WriteFile(text, "A small dog runs.\n");
  const auto refusal = [&](const std::string& file, const std::string& content) {
    const TemporaryFolder out;
    WriteFile(out.File("tokenizer.json"), "old");
    WriteFile(out.File(file), content);
    const std::string error = RefusalOf({"train", "tokenizer", text, "--byte-level", "--out", out.path()});
    EXPECT_EQ(ReadFile(out.File("tokenizer.json")), "old") << file;
    EXPECT_EQ(ReadFile(out.File(file)), content);
    return error;
  };
  for (const char* file : {"config.json", "model.safetensors", "pytorch_model.bin", "vocab.txt", "merges.txt",
                           "source.spm", "spiece.model", "special_tokens_map.json", "modules.json"})
    EXPECT_THAT(refusal(file, "{}"), HasSubstr(fmt::format(": holds '{}', part of a model or of another", file)));
  EXPECT_THAT(refusal("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})"),
              HasSubstr("holds 'tokenizer"));
  EXPECT_THAT(RefusalOf({"train", "tokenizer", text, "--out", text}), HasSubstr("is a file"));
  const std::string fresh = folder.File("fresh");
  EXPECT_THAT(RefusalOf({"train", "tokenizer", folder.File("none"), "--out", fresh}), HasSubstr("none: cannot open"));
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST_F(TokenizeTest, TrainsWithNormalizers) {
  WriteFile(folder.File("a"), "A small DOG runs, caf\u00e9 \uFF21\n");
  const auto tokens = [&](std::vector<std::string> more, const std::string& line) {
    std::vector<std::string> train = {"train", "tokenizer", folder.File("a"), "--out", folder.File("out")};
    train.insert(train.end(), more.begin(), more.end());
    MustRun(train);
    return RunProgram({"tokenize", folder.File("out"), "--no-special"}, line).out;
  };
  const std::string text = "DOG caf\u00e9 \uFF21", plain = "dog cafe a";
  for (const std::vector<std::string>& kind : {std::vector<std::string>{"--byte-level", "--nfkc"},
                                               {"--subword-type", "wordpiece", "--nfkc"},
                                               {"--subword-type", "bpe"},
                                               {"--subword-type", "unigram", "--vocabulary-size", "40"}}) {
    std::vector<std::string> with = kind;
    with.insert(with.end(), {"--lowercase", "--strip-accents"});
    EXPECT_EQ(tokens(with, text), tokens(with, plain)) << kind[1];
    EXPECT_NE(tokens(kind, text), tokens(kind, plain)) << kind[1];
    std::vector<std::string> lower = kind;
    lower.push_back("--lowercase");
    EXPECT_EQ(tokens(lower, "DOG"), tokens(lower, "dog")) << kind[1];
    EXPECT_NE(tokens(lower, "caf\u00e9"), tokens(lower, "cafe")) << kind[1];
  }
  EXPECT_THAT(RefusalOf({"train", "tokenizer", folder.File("a"), "--nfkc", "--out", folder.File("out")}),
              HasSubstr("leave out --nfkc"));
}

}  // namespace
}  // namespace headlight::tokenize_test

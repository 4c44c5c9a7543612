#include <gmock/gmock.h>

#include <map>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"

namespace headlight::encoder_commands_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";

TEST(FillMask, PrintsTheBestWords) {
  const std::string text = "A small <mask> runs.\n<mask> dogs, <mask> men.\n";
  const std::vector<std::string> lines =
      Lines(RunProgram({"fill-mask", kFolders + "fill_mask", "--top-k", "2"}, text).out);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "1\t1\t0.0533\tß");
  EXPECT_THAT(lines[5], MatchesRegex("2\t2\t0\\.[0-9]{4}\t.+"));
  const auto json = Lines(RunProgram({"fill-mask", kFolders + "fill_mask", "--json"}, text).out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(ParseJson(json[1], "line").Find("masks")->As<Json::Array>()->size(), 2U);
  EXPECT_THAT(RefusalOf({"fill-mask", kFolders + "fill_mask"}, "dog\n"), HasSubstr("standard input: line 1: there"));
  EXPECT_THAT(RefusalOf({"fill-mask", kFolders + "fill_mask", "--top-k", "0"}), HasSubstr("--top-k must be at least"));
}

TEST(Classify, PrintsTheClassOfOneTextOrTwo) {
  const std::string folder = kFolders + "classify", text = "A small dog runs.\nTwo men.\tTwo dogs.\n";
  EXPECT_EQ(RunProgram({"classify", folder}, text).out, "maybe\t0.6269\nmaybe\t0.6868\n");
  EXPECT_EQ(Lines(RunProgram({"classify", folder, "--top-k", "2"}, text).out)[0], "maybe\t0.6269\tno\t0.2354");
  EXPECT_EQ(Lines(RunProgram({"classify", folder, "--json"}, text).out)[1].substr(0, 47),
            R"({"line":2,"classes":[{"label":"maybe","score":0)");
  EXPECT_THAT(RefusalOf({"classify", folder}, "a\tb\tc\n"), HasSubstr("line 1: it has more"));
  std::string long_text;
  for (int i = 0; i < 30; ++i) long_text += "dog ";
  EXPECT_THAT(RefusalOf({"classify", folder}, long_text), HasSubstr("line 1: 32 tokens, and"));
  const Outcome cut = RunProgram({"classify", folder, "--truncate"}, long_text);
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_THAT(cut.err, HasSubstr("line 1: the model reads"));
}

TEST(Classify, ReadsTheTextsOfRecords) {
  const TemporaryFolder folder;
  const std::string json = folder.File("texts.jsonl"), csv = folder.File("texts.csv");
  WriteFile(json, R"({"text": "A small dog runs."})"
                  "\n"
                  R"({"sentence1": "Two men.", "sentence2": "Two dogs."})"
                  "\n");
  WriteFile(csv, "id,text\n1,A small dog runs.\n");
  EXPECT_EQ(RunProgram({"classify", kFolders + "classify", json}).out, "maybe\t0.6269\nmaybe\t0.6868\n");
  EXPECT_EQ(RunProgram({"classify", kFolders + "classify", csv}).out, "maybe\t0.6269\n");
  WriteFile(json, "{\"text\": \"dog\"}\n{\"content\": \"dog\"}\n{\"text\": \"dog\"}\n");
  const Outcome broken = RunProgram({"classify", kFolders + "classify", json});  // may print results of preceding texts
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("texts.jsonl:2: expected text or "));
  EXPECT_EQ(Lines(RunProgram({"classify", kFolders + "classify", json, "--skip-errors"}).out).size(), 3U);
}

TEST(Classify, ReadsScoresAsTheProblemAsks) {
  const auto classify = [](const std::string& problem, std::string_view text) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolders + "classify", folder.path());
    std::string config = ReadFile(folder.File("config.json"));
    WriteFile(folder.File("config.json"), config.insert(1, "\"problem_type\": \"" + problem + "\","));
    return RunProgram({"classify", folder.path()}, text).out;
  };
  EXPECT_EQ(classify("multi_label_classification", "A small dog runs.\nTwo men.\tTwo dogs.\n"),
            "maybe\t0.6259\nmaybe\t0.7500\tno\t0.5177\n");
  EXPECT_EQ(classify("regression", "A small dog runs.\n"), "no\t-0.4650\tmaybe\t0.5145\tyes\t-1.0011\n");
}

// Checks that equal texts of a batch, which are encoded once, give equal rows.
TEST(Encoders, PrintTheSameForEqualLines) {
  const auto repeated = [](std::vector<std::string> command, const std::string& text, const std::string& other) {
    const std::string one = RunProgram(command, text).out, two = RunProgram(command, other).out;
    EXPECT_EQ(RunProgram(command, text + other + text + text).out, one + two + one + one) << command[0];
  };
  repeated({"classify", kFolders + "classify"}, "A small dog runs.\n", "Two men.\tTwo dogs.\n");
  repeated({"answer", kFolders + "answer"}, "who\tTwo men.\n", "who\tTwo dogs run.\n");
  repeated({"embed", HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences"}, "\n", "Two dogs.\n");
  std::map<char, std::string> spans;  // by the number of the line
  for (const std::string& row : Lines(RunProgram({"tag", kFolders + "tag"}, "dog\nTwo men\ndog\n").out))
    spans[row[0]] += row.substr(1) + "\n";
  EXPECT_EQ(spans['1'], spans['3']);
  EXPECT_NE(spans['1'], spans['2']);
}

TEST(Tag, PrintsSpans) {
  const std::string folder = kFolders + "tag", text = "dog\n\nTwo men, two dögs.\n";
  const std::vector<std::string> lines = Lines(RunProgram({"tag", folder}, text).out);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(RunProgram({"tag", folder, "--aggregation", "first"}, text).out, RunProgram({"tag", folder}, text).out);
  const std::vector<std::string> tokens = Lines(RunProgram({"tag", folder, "--aggregation", "simple"}, text).out);
  ASSERT_EQ(tokens.size(), 11U);
  EXPECT_EQ(tokens[0], "1\t0\t3\tLOC\t0.4310\tdog");
  EXPECT_EQ(tokens[9], "3\t13\t17\tPER\t0.5039\tdögs");
  const std::vector<std::string> json = Lines(RunProgram({"tag", folder, "--json"}, text).out);
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(json[1], R"({"line":2,"spans":[]})");
  EXPECT_THAT(json[0], HasSubstr(R"({"line":1,"spans":[{"text":"dog","label":"LOC","score":)"));
  EXPECT_THAT(RunProgram({"tag", folder, "--aggregation", "none"}, text).out,
              StartsWith("1\t0\t3\tI-LOC\t0.4310\tdog\n"));
  EXPECT_EQ(Lines(RunProgram({"tag", folder, "--aggregation", "none", "--top-k", "5"}, "dog\n").out).size(), 5U);
  EXPECT_THAT(RefusalOf({"tag", folder, "--top-k", "2"}, text), HasSubstr("--top-k is for tokens without"));
  EXPECT_THAT(RefusalOf({"tag", folder, "--stride", "24"}, text), HasSubstr("--stride is 24: windows of"));
  EXPECT_NE(RunProgram({"tag", folder, "--max-input-length", "6", "--stride", "2"}, text).out,
            RunProgram({"tag", folder}, text).out);
}

TEST(Answer, PrintsAnAnswerOrNone) {
  const std::string folder = kFolders + "answer";
  const TemporaryFolder temporary;
  WriteFile(temporary.File("passage.txt"), "A small dog runs across the green meadow. Two men are playing. ");
  const std::vector<std::string> one = {
      "answer", folder, "--question", "Who runs?", "--context", temporary.File("passage.txt"), "--max-length", "5"};
  EXPECT_EQ(RunProgram(one).out, "0.0293\t40\t45\t. Two\n");
  const std::string text = "dogs?\tTwo men, two dogs.\nmen\tmen\n";
  EXPECT_EQ(RunProgram({"answer", folder, "--max-length", "5"}, text).out,
            "0.0313\t9\t18\ttwo dogs.\n0.2538\t0\t0\t\n");
  EXPECT_EQ(Lines(RunProgram({"answer", folder, "--always"}, text).out)[1].substr(6), "\t0\t3\tmen");
  EXPECT_THAT(Lines(RunProgram({"answer", folder, "--json"}, text).out)[1], HasSubstr(R"("answer":null)"));
  EXPECT_EQ(RunProgram({"answer", folder, "--max-length", "5", "--top-k", "2"}, text).out,
            "0.0313\t9\t18\ttwo dogs.\t0.0301\t13\t18\tdogs.\n0.2538\t0\t0\t\t0.2457\t0\t3\tmen\n");
  EXPECT_THAT(Lines(RunProgram({"answer", folder, "--json", "--top-k", "1"}, text).out)[1],
              StartsWith(R"({"line":2,"answers":[{"answer":null,"score":0.25)"));
  EXPECT_NE(RunProgram({"answer", folder, "--no-align-words"}, text).out, RunProgram({"answer", folder}, text).out);
  EXPECT_THAT(RefusalOf({"answer", folder, "--stride", "24"}, text), HasSubstr("--stride is 24: windows of"));
  EXPECT_THAT(RefusalOf({"answer", folder}, "who\n"), HasSubstr("line 1: a line is"));
  EXPECT_THAT(RefusalOf({"answer", folder}, "who\t\n"), HasSubstr("line 1: the passage has"));
  EXPECT_NE(RunProgram({"answer", folder, "--question", "Who?"}).exit_code, 0);
  EXPECT_THAT(RefusalOf({"answer", kFolders + "tag"}, text), HasSubstr("no head for answers"));
}

}  // namespace
}  // namespace headlight::encoder_commands_test

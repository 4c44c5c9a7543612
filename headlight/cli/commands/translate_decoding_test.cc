// Tests the decoding options of `translate`: sampling, penalties, target prefixes, and word scores.
#include <gmock/gmock.h>

#include <sstream>

#include "headlight/cli/program/testing.h"
#include "headlight/pipelines/translator.h"

namespace headlight::translate_decoding_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct TranslateDecodingTest : ProgramTest {
  const Translator translator = Translator::Load(model);
  const std::vector<std::string> texts = {"Ein Hund.", "", "Zwei Kinder spielen.", "Hund"};
  const std::string input = "Ein Hund.\n\nZwei Kinder spielen.\nHund\n";
};

TEST_F(TranslateDecodingTest, Samples) {
  const std::vector<std::string> command = {
      "translate", model, "--temperature",        "2",  "--top-k", "20", "--seed", "7",
      "--n-best",  "2",   "--repetition-penalty", "1.3"};
  const std::vector<std::string> lines = Lines(RunProgram(command, input).out);
  const auto expected = translator.TranslateBatch(
      texts, {.n_best = 2, .repetition_penalty = 1.3, .temperature = 2, .top_k = 20, .seed = 7});
  ASSERT_EQ(lines.size(), 2U + 1 + 2 + 2);
  std::size_t row = 0;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const Translation& one : expected[i])
      EXPECT_EQ(lines[row++], fmt::format("{}\t{:.6f}\t{}", i + 1, one.score, one.text));
  EXPECT_THAT(RefusalOf({"translate", model, "--beam-size", "2", "--sample"}), HasSubstr("--beam-size"));
  EXPECT_THAT(RefusalOf({"translate", model, "--seed", "2"}), HasSubstr("seed is for sampling"));
  EXPECT_THAT(RefusalOf({"translate", model, "--draft", "--top-k", "2"}), HasSubstr("draft is for greedy choice"));
  EXPECT_THAT(RefusalOf({"translate", model, "--min-length", "9", "--max-length", "8"}),
              HasSubstr("--min-length must be from 0"));
}

TEST_F(TranslateDecodingTest, BeginsWithATargetPrefixAndScoresWords) {
  const std::vector<std::string> lines =
      Lines(RunProgram({"translate", model, "--target-prefix", "A dog", "--scores"}, input).out);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "\t");
  const auto expected = translator.TranslateBatch(texts, {.target_prefix = {"A dog"}});
  for (const std::size_t i : {0, 2, 3}) {
    const std::size_t tab = lines[i].find('\t');
    EXPECT_EQ(lines[i].substr(0, tab), expected[i][0].text);
    EXPECT_THAT(lines[i].substr(tab), StartsWith("\t- "));
    std::istringstream scores(lines[i].substr(tab + 1));
    std::int32_t count = 0;
    for (std::string score; scores >> score; ++count) {
      if (score != "-") {
        EXPECT_LT(std::stod(score), 0);
      }
    }
    EXPECT_EQ(count, CountWords(expected[i][0].text));
  }

  const std::string file = folder.File("beginnings");
  WriteFile(file, "A dog\n\n\nTwo\n");
  const std::vector<std::string> each = Lines(RunProgram({"translate", model, "--target-prefixes", file}, input).out);
  ASSERT_EQ(each.size(), 4U);
  EXPECT_EQ(each[0], expected[0][0].text);
  EXPECT_EQ(each[2], translator.Translate(texts[2]));
  EXPECT_EQ(each[3], translator.Translate("Hund", {.target_prefix = {"Two"}}));
  const auto error_of = [&](const std::string& lines_of_input) {
    const Outcome outcome = RunProgram({"translate", model, "--target-prefixes", file, "--quiet"}, lines_of_input);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(error_of(input + "Hund\n"), HasSubstr("beginnings: it has 4 lines,"));
  EXPECT_THAT(error_of("Hund\n"), HasSubstr("beginnings: it has more lines"));
  EXPECT_THAT(RefusalOf({"translate", model, "--target-prefixes", "-"}, "Hund\n"), HasSubstr("(-) can only be one"));
  EXPECT_NE(RunProgram({"translate", model, "--target-prefixes", file, "--target-prefix", "A"}, "Hund\n").exit_code, 0);
}

}  // namespace
}  // namespace headlight::translate_decoding_test

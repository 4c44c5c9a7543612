#include "headlight/generate/shortlist.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/cli/program/testing.h"

namespace headlight::shortlist_test {
namespace {

using testing::HasSubstr;

struct ShortlistTest : ProgramTest {
  const std::string source = Write("de", "Ein Hund läuft.\nZwei Kinder spielen.\n\nHund\n"),
                    target = Write("en", "A dog runs.\nTwo children play.\n\ndog\n"),
                    file = model + "/" + kShortlistName;
};

TEST_F(ShortlistTest, WritesTheShortlistOfTranslate) {
  const std::string input = "Ein Hund läuft.\n\nZwei Kinder.\n";
  EXPECT_THAT(RefusalOf({"translate", model, "--shortlist"}), HasSubstr("`headlight shortlist` makes it"));
  const Outcome outcome = RunProgram({"shortlist", model, "--train", source, target, "--frequent", "3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("3 tokens for every sentence"));
  const Outcome translated = RunProgram({"translate", model, "--shortlist"}, input);
  EXPECT_EQ(translated.exit_code, 0) << translated.err;
  const std::vector<std::string> lines = Lines(translated.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "");
  // Even an untrained model generates only tokens in its shortlist.
  EXPECT_NE(translated.out, RunProgram({"translate", model}, input).out);
  EXPECT_EQ(RunProgram({"translate", model, "--shortlist"}, "Zwei Kinder.\n").out, lines[2] + "\n");
  // The shortlist is copied with the model.
  const std::string converted = folder.File("int8");
  EXPECT_EQ(RunProgram({"convert", model, "--out", converted, "--compute", "int8"}).exit_code, 0);
  EXPECT_EQ(RunProgram({"translate", converted, "--shortlist"}, input).exit_code, 0);
}

TEST_F(ShortlistTest, KeepsTheContentOfALink) {
  const std::string shared = Write("shared", "of a hub's cache");
  std::filesystem::create_symlink(shared, file);
  MustRun({"shortlist", model, "--train", source, target});
  EXPECT_FALSE(std::filesystem::is_symlink(file));
  EXPECT_EQ(ReadFile(shared), "of a hub's cache");
}

TEST_F(ShortlistTest, RefusesTextThatIsNotInPairs) {
  EXPECT_THAT(RefusalOf({"shortlist", model, "--train", source, Write("short", "A dog runs.\n")}),
              testing::AllOf(HasSubstr("has 4 lines"), HasSubstr("has 1")));
  EXPECT_THAT(RefusalOf({"shortlist", model, "--train", Write("empty", ""), Write("none", "")}),
              HasSubstr("no sentence pair"));
  EXPECT_THAT(RefusalOf({"shortlist", model, "--train", source, target, "--per-word", "0"}),
              HasSubstr("--per-word must be at least"));
  EXPECT_THAT(RefusalOf({"shortlist", model, "--train", "-", "-"}), HasSubstr("(-) can only be one"));
  const std::string data = HEADLIGHT_SOURCE_DIR "/tests/testdata/";
  EXPECT_THAT(RefusalOf({"shortlist", data + "bert/sentences", "--train", source, target}),
              HasSubstr("is a bert model"));
  EXPECT_THAT(RefusalOf({"shortlist", data + "encoder_decoders/t5_text", "--train", source, target}),
              HasSubstr("a shortlist is for MarianMT's"));
  EXPECT_THAT(RefusalOf({"shortlist", folder.File("nothing"), "--train", source, target}), HasSubstr("nothing"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace headlight::shortlist_test

// Tests aliases, former names and the short help.
#include "headlight/cli/program/names.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "headlight/cli/program/command_line.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/program.h"
#include "headlight/cli/program/testing.h"

namespace headlight::names_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ShortHelp, FitsAScreenAndNamesTheLongOne) {
  const auto program = MakeProgram();
  std::vector<const Command*> commands = LeavesOf(*program);
  commands.push_back(program.get());
  for (const Command* command : commands) {
    const std::string brief = HelpOf(*command, HelpLevel::brief), all = HelpOf(*command, HelpLevel::all);
    EXPECT_LE(std::ranges::count(brief, '\n'), 40) << FullName(*command);
    if (brief != all) {
      EXPECT_THAT(brief, HasSubstr(FullName(*command) + " --help-all")) << FullName(*command);
    }
  }
}

TEST(ShortHelp, HasTheCommonOptionsAndTheLongOneAll) {
  const std::string brief = RunProgram({"translate", "--help"}).out, all = RunProgram({"translate", "--help-all"}).out;
  EXPECT_THAT(brief, testing::AllOf(HasSubstr("--beam-size"), Not(HasSubstr("--no-repeat-ngram-size"))));
  EXPECT_THAT(all, testing::AllOf(HasSubstr("--no-repeat-ngram-size"), HasSubstr("(also --num-beams)")));
  EXPECT_THAT(RunProgram({"search", "--help"}).out,
              testing::AllOf(HasSubstr("--model DIR"), HasSubstr("--names FILE")));
  EXPECT_THAT(RunProgram({"convert", "--help"}).out,
              testing::AllOf(HasSubstr("--type TYPE"), HasSubstr("--type Q4_K_M")));
}

// Checks that the examples in each short help use only options that the short help lists.
TEST(ShortHelp, ExplainsItsExamples) {
  const auto program = MakeProgram();
  int count = 0;
  for (const Command* command : LeavesOf(*program)) {
    const std::string brief = HelpOf(*command, HelpLevel::brief);
    const std::size_t begin = brief.find("\nExample");
    ASSERT_NE(begin, std::string::npos) << FullName(*command);
    if (brief == HelpOf(*command, HelpLevel::all)) continue;
    EXPECT_THAT(brief.substr(begin), HasSubstr("\n  headlight " + FullName(*command).substr(10))) << brief;
    std::istringstream words(brief.substr(begin));
    for (std::string word; words >> word; ++count)
      if (word != "--help-all" && command->Find(word) != nullptr && word.starts_with("--")) {
        EXPECT_THAT(brief.substr(0, begin), HasSubstr(word)) << FullName(*command);
      }
  }
  EXPECT_GT(count, 100);
}

TEST(ShortHelp, GroupsTheCommands) {
  const Outcome bare = RunProgram({});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.out, RunProgram({"--help"}).out);
  for (const char* group : {"\nText:\n", "\nVision:\n", "\nProteins:\n", "\nTrain:\n", "\nTools:\n"})
    EXPECT_THAT(bare.out, HasSubstr(group));
  EXPECT_THAT(bare.out, Not(HasSubstr("\n  completion ")));
  const std::string all = RunProgram({"--help-all"}).out;
  const auto program = MakeProgram();
  for (const Command* command : CommandsOf(*program)) EXPECT_THAT(all, HasSubstr("\n  " + command->name + " "));
}

TEST(ShortHelp, IsPrintedByAGroupOfCommands) {
  for (const char* const group : {"train", "bench"}) {
    const Outcome bare = RunProgram({group}, "", "", Process::copy);
    EXPECT_EQ(bare.exit_code, 0) << bare.err;
    EXPECT_EQ(bare.out, RunProgram({group, "--help"}, "", "", Process::copy).out);
    EXPECT_THAT(bare.out, HasSubstr("\nCommands:\n"));
  }
}

// Checks that the commands and options of all examples exist.
TEST(Help, HasExamplesThatAreValid) {
  const auto program = MakeProgram();
  int examples = 0;
  for (const Command* command : LeavesOf(*program)) {
    std::string footer = command->footer;
    for (std::size_t at; (at = footer.find("\\\n")) != std::string::npos;) footer.replace(at, 2, " ");
    std::istringstream lines(footer);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.rfind("headlight ");
      if (!line.starts_with("  ") || begin == std::string::npos) continue;
      std::istringstream rest(line.substr(begin));
      std::vector<std::string> words(std::istream_iterator<std::string>(rest), {});
      words.erase(words.begin());
      EXPECT_NO_THROW(NamedCommand(*program, words)) << line;
      ++examples;
    }
  }
  EXPECT_GT(examples, 100);
}

// Checks that all names in the tables exist, except commands that are not in every build.
TEST(Names, OfTheTablesExist) {
  const auto program = MakeProgram();
  for (const CommandGroup& group : CommandGroups())
    for (const std::vector<std::string_view>& names : {group.common, group.rare})
      for (const std::string_view name : names)
        EXPECT_TRUE(name == "pull" ||
                    std::ranges::any_of(program->commands, [&](const auto& one) { return one->name == name; }))
            << name;
}

TEST(Names, FormerOnesGiveThePresentOnes) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"draw", ".", "a", "--rank", "."}, "it is now called --reranker"},
      {{"draw", ".", "a", "--count", "2"}, "it is now called --n-best, and --best-of"},
      {{"draw", ".", "a", "--from", "a.png"}, "it is now called --image"},
      {{"draw", ".", "--texts", "a"}, "it is now called --file"},
      {{"generate", ".", "--count", "2"}, "it is now called --n-best"},
      {{"generate", ".", "--prompts", "a"}, "it is now called --file"},
      {{"fold", ".", "--queries", "a"}, "it is now called --file"},
      {{"fold", ".", "--seeds", "2"}, "it is now called --num-seeds"},
      {{"fold", ".", "--format", "pdb"}, "it is now called --out-format"},
      {{"evaluate", ".", "--source", "a"}, "the texts to read are now FILE"},
      {{"translate", ".", "--attention", "a"}, "it is now called --output-attentions"},
      {{"tag", ".", "--max-length", "9"}, "it is now called --max-input-length"},
      {{"score", ".", "--window", "9"}, "it is now called --max-input-length"},
      {{"score", ".", "--stride", "9"}, "it is now called --window-step"},
      {{"bench", "generate", ".", "--length", "9"}, "it is now called --new-tokens"},
      {{"bench", "encode", ".", "--batch", "9"}, "it is now called --batch-size"},
      {{"bench", "translate", ".", "--tokens", "a"}, "it is now called --output-tokens"},
      {{"train", "text-to-image", "--attention", "full"}, "it is now called --attention-types"},
      {{"train", "detection", "--queries", "9"}, "it is now called --num-queries"},
      {{"train", "folding", "--templates", "4"}, "it is now called --max-templates"},
      {{"train", "translation", "--vocabulary", "bpe"}, "it is now called --subword-type"},
      {{"train", "translation", "--max-length", "9"}, "it is now called --max-tokens"},
      {{"train", "tokenizer", "--algorithm", "bpe"}, "it is now called --subword-type"},
      {{"train", "contrastive", "--architecture", "bert"}, "it is now called --family"},
      {{"train", "contrastive", "--part-size", "9"}, "it is now called --micro-batch-size"},
      {{"train", "self-distillation", "--labelled", "a"}, "it is now called --labeled"},
      {{"train", "self-distillation", "--head-dim", "9"}, "it is now called --head-hidden-dim"},
      {{"train", "image-codes", "--temperature", "0.1"}, "it is now called --final-temperature"},
  };
  for (const auto& [arguments, expected] : cases) EXPECT_THAT(RefusalOf(arguments), HasSubstr(expected));
  const TemporaryFolder folder;
  WriteFile(folder.File("o"), "seeds = 2\n");
  EXPECT_THAT(RefusalOf({"fold", ".", "--out", "a.cif", "--config", folder.File("o")}),
              HasSubstr("line 1: headlight fold has no option --seeds: it is now called --num-seeds"));
}

TEST(Names, ThatPeopleTryGetAHint) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"train", "clip"}, "use \"contrastive\""},
      {{"train", "bert"}, "use \"masked-language-model\""},
      {{"train", "gpt2"}, "use \"language-model\" --family gpt2"},
      {{"train", "llama"}, "use \"language-model\" --family llama"},
      {{"train", "vit"}, "use \"image-classification\""},
      {{"train", "vqa"}, "use \"visual-question-answering\""},
      {{"chat"}, "use \"generate\""},
      {{"quantize"}, "use \"convert\""},
      {{"generate", ".", "--max-length", "9"}, "use --max-new-tokens"},
      {{"translate", ".", "--max-new-tokens", "9"}, "use --max-length"},
  };
  for (const auto& [arguments, expected] : cases) EXPECT_THAT(RefusalOf(arguments), HasSubstr(expected));
}

TEST(Names, OfOtherProgramsAreAccepted) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"translate", ".", "--num-beams", "0"}, "--beam-size must be"},
      {{"translate", ".", "--num_beams=0"}, "--beam-size must be"},
      {{"translate", ".", "--beam_size", "0"}, "--beam-size must be"},
      {{"generate", ".", "--max-tokens", "0"}, "--max-new-tokens must be"},
      {{"train", "translation", "--lr", "0"}, "--learning-rate must be"},
      {{"--threads", "0", "info", "."}, "--threads must be"},
      {{"--threads=0", "train", "translation"}, "--threads must be"},
  };
  for (const auto& [arguments, expected] : cases) EXPECT_THAT(RefusalOf(arguments), HasSubstr(expected));
  const TemporaryFolder folder;
  WriteFile(folder.File("o"), "num_beams = 0\n");
  EXPECT_THAT(RefusalOf({"translate", ".", "--config", folder.File("o")}), HasSubstr("--beam-size must be"));
  EXPECT_EQ(RunProgram({"--threads", "1", "version"}).out, RunProgram({"--version"}).out);
}

}  // namespace
}  // namespace headlight::names_test

// Tests all options of all commands: invalid values, help, completion and manual.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "headlight/cli/program/command_line.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/program.h"
#include "headlight/cli/program/testing.h"

namespace headlight::options_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The types of options whose values are not numbers. All other options must reject values that are not numbers in their
// range.
const std::set<std::string> kOtherValues = {"FILE",
                                            "FILE ...",
                                            "FILE.cif",
                                            "FILE.html",
                                            "FILE.npy",
                                            "FILE.safetensors",
                                            "DIR",
                                            "DIR ...",
                                            "LETTERS",
                                            "TEXT",
                                            "TEXT ...",
                                            "QUERY",
                                            "TOKEN",
                                            "NAME",
                                            "PATTERN",
                                            "VARIANT",
                                            "VARIANT ...",
                                            "PATTERN ...",
                                            "PATH",
                                            "I/N",
                                            "PATTERN=FACTOR",
                                            "PATTERN=FACTOR ...",
                                            "FROM:TO",
                                            "WIDTHxHEIGHT",
                                            "WIDTHxHEIGHT ...",
                                            "ROW:COLUMN",
                                            "SRC TGT",
                                            "ORG/NAME",
                                            "SOURCE TARGET"};

bool IsNumber(const Option& option) {
  const std::string value = ValueOf(option);
  return !value.empty() && value.find('|') == std::string::npos && !kOtherValues.contains(value);
}

// Returns the error of an option's checks for a value, or "" if the value is valid. This is ten times as fast as
// parsing a command line for each value.
std::string CheckedMessageFor(const Option& option, const std::string& value) {
  for (const OptionCheck& check : option.checks())
    if (std::string message = check(value); !message.empty()) return message;
  return "";
}

struct Options : testing::Test {
  // Returns the error for an option with a value, or "". Missing arguments are not an error.
  std::string MessageFor(const Command& command, const std::string& option, const std::string& value) const {
    std::vector<std::string> arguments = {option + "=" + value};
    for (const Command* one = &command; one->parent != nullptr; one = one->parent)
      arguments.insert(arguments.begin(), one->name);
    try {
      ParseOptions(NamedCommand(*program, arguments), arguments);
    } catch (const MissingOption&) {
      return "";
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const std::unique_ptr<Command> program = MakeProgram();
};

TEST_F(Options, RefuseWhatIsNoNumberInTheirRange) {
  int numbers = 0;
  for (const Command* command : LeavesOf(*program))
    for (const OptionGroup& group : OptionGroupsOf(*command))
      for (const Option* option : group.options) {
        if (option->is_argument() || !IsNumber(*option)) continue;
        ++numbers;
        const std::string huge(400, '9');
        for (const std::string& value :
             std::vector<std::string>{"nan", "inf", "-inf", "many", "3x", " 3", "0x10", "1e999", huge})
          EXPECT_THAT(CheckedMessageFor(*option, value), StartsWith("must be "))
              << FullName(*command) << " " << option->name() << "=" << value;
        if (option->name() != "--length-penalty") {
          EXPECT_THAT(CheckedMessageFor(*option, "-1"), HasSubstr("must be "))
              << FullName(*command) << " " << option->name();
        }
        // The command line runs the same checks.
        EXPECT_EQ(MessageFor(*command, option->name(), "nan"), option->name() + " " + CheckedMessageFor(*option, "nan"))
            << FullName(*command);
      }
  EXPECT_GT(numbers, 200);
}

TEST_F(Options, OfTwoValuesNeedBoth) {
  int pairs = 0;
  for (const Command* command : LeavesOf(*program))
    for (const OptionGroup& group : OptionGroupsOf(*command))
      for (const Option* option : group.options) {
        if (option->least_values() != 2) continue;
        ++pairs;
        EXPECT_THAT(MessageFor(*command, option->name(), "a"), HasSubstr(" needs two values: ")) << FullName(*command);
      }
  EXPECT_GE(pairs, 2);
}

TEST_F(Options, RefuseEmptyValues) {
  const std::set<std::string> may_be_empty = {"--prefix", "--text",     "--second",       "--source",
                                              "--target", "--question", "--target-prefix"};
  for (const Command* command : LeavesOf(*program))
    for (const OptionGroup& group : OptionGroupsOf(*command))
      for (const Option* option : group.options) {
        const std::string& name = option->name();
        if (option->is_argument() || ValueOf(*option).empty() || may_be_empty.contains(name) || name == "--config")
          continue;
        if (CheckedMessageFor(*option, "").empty()) {
          EXPECT_NE(MessageFor(*command, name, ""), "") << FullName(*command) << " " << name;
        }
      }
}

TEST_F(Options, AreDescribedInOneStyle) {
  for (const Command* command : LeavesOf(*program)) {
    EXPECT_THAT(command->footer, HasSubstr("Example")) << FullName(*command);
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(command->description[0]))) << FullName(*command);
    for (const OptionGroup& group : OptionGroupsOf(*command))
      for (const Option* option : group.options) {
        const std::string text = option->description();
        EXPECT_TRUE(!text.empty() && std::islower(static_cast<unsigned char>(text[0])) == 0)
            << FullName(*command) << " " << option->name() << ": " << text;
        EXPECT_THAT(ValueOf(*option), testing::Not(testing::AnyOf("INT", "UINT", "FLOAT"))) << option->name();
      }
  }
}

TEST_F(Options, HelpFitsATerminal) {
  for (const Command* command : LeavesOf(*program))
    for (const HelpLevel level : {HelpLevel::brief, HelpLevel::all})
      for (const std::string& line : Lines(HelpOf(*command, level)))
        EXPECT_LE(line.size(), 112U) << FullName(*command) << ": " << line;
  for (const std::string& line : Lines(HelpOf(*program, HelpLevel::all))) EXPECT_LE(line.size(), 112U) << line;
}

// Checks that --compute names GGUF files only in commands that read one. `search` reads the model of its index.
TEST_F(Options, ComputeNamesFilesThatTheCommandReads) {
  int with_gguf = 0;
  for (const Command* command : LeavesOf(*program)) {
    const Option* const compute = command->Find("--compute");
    if (compute == nullptr || compute->description().find("quantized folder") == std::string::npos) continue;
    bool reads_gguf = command->name == "search";
    for (const OptionGroup& group : OptionGroupsOf(*command))
      for (const Option* option : group.options)
        if (option->is_argument() && option->description().find("GGUF") != std::string::npos) reads_gguf = true;
    EXPECT_EQ(compute->description().find("GGUF") != std::string::npos, reads_gguf) << FullName(*command);
    with_gguf += reads_gguf ? 1 : 0;
  }
  EXPECT_GT(with_gguf, 5);
}

TEST_F(Options, SeedsHaveOneDefault) {
  int seeds = 0;
  for (const Command* command : LeavesOf(*program)) {
    const Option* const seed = command->Find("--seed");
    if (seed == nullptr) continue;
    const std::string text = DescriptionOf(*command, *seed, HelpLevel::brief);
    EXPECT_THAT(text, testing::EndsWith(command->name == "bleu" ? "[12345]" : "[1]")) << FullName(*command);
    ++seeds;
  }
  EXPECT_GT(seeds, 20);
}

TEST_F(Options, TheLastOfARepeatedOptionWins) {
  EXPECT_EQ(RunProgram({"info", ".", "--threads", "3", "--threads", "0"}).err,
            "headlight: --threads must be from 1 to 4096, not 0\n");
  const Outcome outcome = RunProgram({"bleu", "--reference", "/dev/null", "--json", "--json", "--quiet", "--quiet"});
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("--json")));
}

TEST_F(Options, CommandsAndOptionsThatWereMeantAreNamed) {
  EXPECT_THAT(RefusalOf({"translte"}), HasSubstr("\"translte\"; did you mean \"translate\"?"));
  EXPECT_THAT(RefusalOf({"train", "translaton"}), HasSubstr("did you mean \"translation\"?"));
  EXPECT_THAT(RefusalOf({"translate", "--beem-size", "3", "no-folder"}), HasSubstr("did you mean --beam-size?"));
  EXPECT_THAT(RefusalOf({"translate", ".", "--beam", "3"}), HasSubstr("did you mean --beam-size?"));
  EXPECT_THAT(RefusalOf({"generate", ".", "--top-", "3"}), HasSubstr("did you mean --top-k or"));
  EXPECT_THAT(RefusalOf({"tran"}), HasSubstr("did you mean \"translate\"?"));
  EXPECT_THAT(RefusalOf({"--threads", "2"}), HasSubstr("headlight needs a command:"));
  EXPECT_THAT(RefusalOf({"translate", ".", "--beam-size"}), HasSubstr("--beam-size needs a value: N"));
  EXPECT_THAT(RefusalOf({"translate", "no-such-folder"}), HasSubstr("no-such-folder: no such folder"));
}

TEST_F(Options, ThatWouldHaveNoEffectAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"embed", ".", "--top-k", "3"}, "--top-k needs --search"},
      {{"embed", ".", "--out", "a", "--search", "b"}, "--out cannot be given with --search"},
      {{"embed", ".", "--index", "a", "--search", "b"}, "--search cannot be given with --index"},
      {{"embed", ".", "--faiss", "a"}, "--faiss needs --index"},
      {{"classify", ".", "--template", "a"}, "--template needs --labels"},
      {{"tokenize", ".", "--ids", "--json"}, "--json"},
      {{"tokenize", ".", "--decode", "--plain"}, "--decode"},
      {{"look", ".", "--out", "a.svg", "--text", "a", "--prefix", "b"}, "--prefix needs --source"},
      {{"look", ".", "--out", "a.svg", "--source", "a", "--second", "b"}, "--second needs --text"},
      {{"look", ".", "--out", "a.svg", "--text", "a", "--mass", "0.5"}, "--mass needs --image"},
      {{"look", ".", "--out", "a.svg", "--source", "a", "--image", "b"}, "--source cannot be given with --image"},
      {{"look", ".", "--out", "a.svg", "--text", "a", "--against", "."}, "--against needs an --out"},
      {{"answer", ".", "--question", "a"}, "--question needs --context or --image"},
      {{"answer", ".", "--image", "a"}, "--image needs --question"},
      {{"answer", ".", "--question", "a", "--context", "b", "--image", "c"}, "--context cannot be given with"},
      {{"look", ".", "--out", "a.svg", "--target", "a"}, "--target needs --source or --image"},
      {{"look", ".", "--out", "a.svg", "--question", "a"}, "--question needs --image"},
      {{"generate", ".", "a", "--sample", "--no-sample"}, "--no-sample"},
      {{"train", "self-distillation", "--train", "a", "--out", "b", "--from", ".", "--layers", "4"}, "--layers"},
      {{"draw", ".", "a", "--out", "a.png", "--keep-rows", "2"}, "--keep-rows needs --image"},
      {{"draw", ".", "a", "--json", "--columns", "2"}, "--columns needs --out"},
      {{"draw", ".", "a", "--json", "--best-of", "2"}, "--best-of needs --reranker"},
  };
  for (const auto& [arguments, expected] : cases) EXPECT_THAT(RefusalOf(arguments), HasSubstr(expected));
  for (const std::string task :
       {"language-model", "classification", "tagging", "question-answering", "masked-language-model", "seq2seq",
        "span-corruption", "denoising", "image-classification", "image-generation", "detection", "contrastive",
        "captions", "text-to-image"})
    for (const std::string size : {"--layers", "--model-dim", "--heads", "--ffn-dim"})
      EXPECT_THAT(RefusalOf({"train", task, "--train", "a", "--valid", "a", "--out", "b", "--from", ".", size, "4"}),
                  testing::AllOf(HasSubstr("--from"), HasSubstr(size)));
  for (const std::string size : {"--layers", "--extra-layers", "--model-dim", "--pair-dim", "--single-dim", "--heads",
                                 "--structure-layers", "--rows", "--extra-rows", "--recycles"})
    EXPECT_THAT(RefusalOf({"train", "folding", "--train", "a", "--valid", "a", "--out", "b", "--from", ".", size, "4"}),
                testing::AllOf(HasSubstr("--from"), HasSubstr(size)));
}

TEST_F(Options, NamesInMessagesCannotControlATerminal) {
  EXPECT_EQ(RefusalOf({"info",
                       "a\x1b[31m\xe2\x80\xae"
                       "b\xc2\x9b\xff"
                       "c"}),
            "headlight: a\\x1b[31m\\u202eb\\x9b\\xffc: no such folder; a model is a folder or a GGUF file, and "
            "`headlight pull ORG/NAME` downloads one\n");
}

TEST(OptionsFile, ErrorsNameFileAndLine) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    WriteFile(folder.File("o"), text);
    return RefusalOf({"translate", ".", "--config", folder.File("o")});
  };
  EXPECT_THAT(refusal("# a\n\nbeam-size = 0\n"), HasSubstr("/o: line 3: --beam-size"));
  EXPECT_THAT(refusal("beem-size = 1\n"), HasSubstr("has no option --beem-size"));
  EXPECT_THAT(refusal("beam-size\n"), HasSubstr("line 1: expected NAME ="));
  EXPECT_THAT(refusal("[translate]\n"), HasSubstr("line 1: sections are"));
  EXPECT_THAT(refusal("task = \"a\n"), HasSubstr("line 1: the text has"));
  EXPECT_THAT(refusal("quiet = maybe\n"), HasSubstr("line 1: --quiet must be"));
  EXPECT_THAT(refusal("beam-size = 4\nbeam-size = 0 # the last\n"), HasSubstr("line 2: --beam-size"));
  EXPECT_THAT(RefusalOf({"translate", ".", "--config", "/dev/zero"}), HasSubstr("/dev/zero: a file of options"));
}

TEST(Manual, HasAPageForEveryCommandAndCompletionsThatParse) {
  const TemporaryFolder folder;
  ASSERT_EQ(RunProgram({"help", "--manual", folder.path()}).exit_code, 0);
  const auto program = MakeProgram();
  for (const Command* command : LeavesOf(*program)) {
    std::string name = FullName(*command);
    std::ranges::replace(name, ' ', '-');
    const std::string page = ReadFile(folder.File("man/man1/" + name + ".1"));
    EXPECT_THAT(page, StartsWith(".TH HEADLIGHT"));
    for (const char* section : {"\n.SH NAME\n", "\n.SH SYNOPSIS\n", "\n.SH EXAMPLES\n"})
      EXPECT_THAT(page, HasSubstr(section)) << name;
  }
  const std::string fish = ReadFile(folder.File("fish/vendor_completions.d/headlight.fish"));
  EXPECT_THAT(fish, HasSubstr("complete -c headlight -n \"__headlight_at 'train translation'\" -l schedule "
                              "-x -a 'paper inverse-square-root cosine linear' -d "));
  const std::string bash = folder.File("bash-completion/completions/headlight");
  EXPECT_EQ(std::system(("bash -n " + bash).c_str()), 0);
  const std::pair<const char*, const char*> completions[] = {
      {"headlight train translation --schedule ''", "paper inverse-square-root cosine linear"},
      {"headlight help tra", "train translate"},
      {"headlight detect --out /et", "/etc"},  // the words of the placeholder FILE|DIR are not completed
      {"headlight detect --out FIL", ""},
  };
  for (const auto& [words, expected] : completions) {
    WriteFile(folder.File("check"),
              fmt::format("source {} && COMP_WORDS=({}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) "
                          "&& {{ _headlight; [ \"${{COMPREPLY[*]}}\" = '{}' ]; }}",
                          bash, words, expected));
    EXPECT_EQ(std::system(("bash " + folder.File("check")).c_str()), 0) << words;
  }
  EXPECT_THAT(RunProgram({"help", "train", "translation"}).out, HasSubstr("Usage: headlight train translation"));
}

}  // namespace
}  // namespace headlight::options_test

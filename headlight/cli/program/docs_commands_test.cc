// Parses the commands in the documentation and in the help texts, and checks that their options exist.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>

#include "headlight/base/file.h"
#include "headlight/cli/program/command_line.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/reference_pages.h"
#include "headlight/cli/program/testing.h"

namespace headlight::docs_commands_test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// Joins each line that ends with a backslash with the next line.
std::vector<std::string> Joined(const std::vector<std::string>& lines) {
  std::vector<std::string> joined;
  bool goes_on = false;
  for (const std::string& line : lines) {
    if (!goes_on) joined.emplace_back();
    goes_on = line.ends_with('\\');
    joined.back() += line.substr(0, line.size() - (goes_on ? 1 : 0));
  }
  return joined;
}

// Returns the lines of code in a Markdown page: indented lines and fenced blocks.
std::vector<std::string> CodeOf(const std::string& page) {
  std::vector<std::string> code;
  bool in_fence = false;
  for (const std::string& line : Lines(page)) {
    if (line.starts_with("```"))
      in_fence = !in_fence;
    else if (in_fence || line.starts_with("    "))
      code.push_back(line);
  }
  return Joined(code);
}

// Splits a shell line into its simple commands, and each command into words. Removes redirections and comments.
std::vector<std::vector<std::string>> ShellCommands(const std::string& line) {
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  bool has_word = false, is_file = false;
  const auto end_word = [&] {
    if (has_word && !is_file) commands.back().push_back(word);
    if (has_word) is_file = false;
    word.clear();
    has_word = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'' || c == '"') {
      const std::size_t end = std::min(line.find(c, i + 1), line.size());
      word += line.substr(i + 1, end - i - 1);
      has_word = true;
      i = end;
    } else if (c == ' ') {
      end_word();
    } else if (c == '#' && !has_word) {
      break;
    } else if (c == '|' || c == ';' || c == '&') {
      end_word();
      commands.emplace_back();
    } else if (c == '>' || c == '<') {
      end_word();
      is_file = true;
    } else {
      word += c;
      has_word = true;
    }
  }
  end_word();
  return commands;
}

// Returns the arguments if the words run headlight. Returns nullopt for other programs and incomplete commands.
std::optional<std::vector<std::string>> Arguments(const std::vector<std::string>& words) {
  const auto is_program = [](const std::string& word) {
    return word == "headlight" || word == "build/release/headlight";
  };
  std::size_t begin = 0;
  if (!words.empty() && (words[0] == "mpirun" || words[0] == "srun"))
    while (begin < words.size() && !is_program(words[begin])) ++begin;
  while (begin < words.size() && (words[begin] == "$" || words[begin].find('=') != std::string::npos)) ++begin;
  if (begin + 1 >= words.size() || !is_program(words[begin])) return std::nullopt;
  std::vector<std::string> arguments(words.begin() + static_cast<std::ptrdiff_t>(begin) + 1, words.end());
  if (std::ranges::find(arguments, "...") != arguments.end() || arguments[0] == "COMMAND") return std::nullopt;
  return arguments;
}

struct DocsCommands : testing::Test {
  DocsCommands() { fs::current_path(folder.path()); }
  ~DocsCommands() override { fs::current_path(before); }

  // Returns the error of a command line, or "". Creates the folders and model files that the command line names.
  std::string MistakeIn(const std::vector<std::string>& arguments) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      try {
        ParseOptions(NamedCommand(*program, arguments), arguments);
        return "";
      } catch (const Error& error) {
        const std::string message = error.what();
        const std::size_t end = message.find(": no such f");  // "folder" or "file"
        if (end == std::string::npos) return message;
        const std::string path = message.substr(0, end);
        if (message.find("no such model in the cache") != std::string::npos && path.find('/') == std::string::npos)
          models.insert(path);
        if (path.ends_with(".gguf"))
          WriteFile(path, "");
        else
          fs::create_directories(path);
      }
    }
    return "too many folders";
  }

  // Returns the errors of the commands in the lines, and adds the number of commands to `count`.
  std::vector<std::string> Mistakes(const std::string& where, const std::vector<std::string>& lines) {
    std::vector<std::string> mistakes;
    for (const std::string& line : lines)
      for (const std::vector<std::string>& words : ShellCommands(line))
        if (const auto arguments = Arguments(words)) {
          ++count;
          for (std::size_t i = 0; i + 1 < arguments->size(); ++i)
            if ((*arguments)[i] == "--out") outputs.insert((*arguments)[i + 1]);
          if (const std::string mistake = MistakeIn(*arguments); !mistake.empty())
            mistakes.push_back(where + ": " + line + ": " + mistake);
        }
    return mistakes;
  }

  std::vector<std::string> MistakesOfPages() {
    const fs::path root = HEADLIGHT_SOURCE_DIR;
    std::vector<fs::path> pages = {root / "README.md"};
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs"))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
    std::vector<std::string> all;
    for (const fs::path& page : pages)
      std::ranges::move(Mistakes(page.lexically_relative(root), CodeOf(ReadFile(page))), std::back_inserter(all));
    return all;
  }

  std::vector<std::string> MistakesOfHelps() {
    std::vector<std::string> all;
    for (const Command* command : LeavesOf(*program))
      std::ranges::move(
          Mistakes(FullName(*command), Joined(Lines(std::string(DivideFooter(command->footer).second) + "\n"))),
          std::back_inserter(all));
    return all;
  }

  const fs::path before = fs::current_path();
  const TemporaryFolder folder;
  const std::unique_ptr<Command> program = MakeProgram();
  int count = 0;
  std::set<std::string> models, outputs;  // names that the commands use as models, and values of --out
};

TEST_F(DocsCommands, OfPagesParse) {
  EXPECT_THAT(MistakesOfPages(), testing::IsEmpty());
  EXPECT_GT(count, 100);
}

TEST_F(DocsCommands, OfHelpsParse) {
  EXPECT_THAT(MistakesOfHelps(), testing::IsEmpty());
  EXPECT_GT(count, 100);
}

// Checks that each name of a model without a / is in a table of the guide, or that another command writes the model.
TEST_F(DocsCommands, NamesOfModelsAreExplained) {
  MistakesOfPages();
  MistakesOfHelps();
  const std::string guide = ReadFile(HEADLIGHT_SOURCE_DIR "/docs/guides/get_a_model.md");
  EXPECT_GT(models.size(), 20U);
  for (const std::string& model : models)
    EXPECT_TRUE(outputs.contains(model) || guide.find("`" + model + "`") != std::string::npos) << model;
}

TEST_F(DocsCommands, PlantedMistakesAreFound) {
  EXPECT_THAT(
      Mistakes("page",
               CodeOf("Text `headlight translate --no`\n    A=1 headlight translate model \\\n      --beam-size "
                      "3 'a | b' > out  # --no\n")),
      testing::IsEmpty());
  EXPECT_EQ(count, 1);
  EXPECT_THAT(Mistakes("page", CodeOf("```\necho a | headlight translate model --beams 3\n```\n")),
              testing::ElementsAre(HasSubstr("has no option --beams")));
  EXPECT_THAT(Mistakes("page", {"cd a && headlight translate model --beam-size 0"}),
              testing::ElementsAre(HasSubstr("--beam-size must be")));
  EXPECT_THAT(Mistakes("page", {"mpirun -n 2 headlight embed model --top-k 3"}),
              testing::ElementsAre(HasSubstr("--top-k needs --search")));
  EXPECT_THAT(Mistakes("page", {"headlight bleu"}), testing::ElementsAre(HasSubstr("needs --reference")));
}

TEST_F(DocsCommands, HaveReferencePages) {
  ASSERT_EQ(RunProgram({"help", "--reference", "pages"}).exit_code, 0);
  const std::string index = ReadFile("pages/README.md"), page = ReadFile("pages/translate.md");
  EXPECT_THAT(index, HasSubstr("\n- [headlight translate](translate.md): Translate text, line by line\n"));
  EXPECT_THAT(ReadFile("pages/train.md"), HasSubstr("[headlight train translation](train-translation.md)"));
  EXPECT_THAT(page, HasSubstr("```text\nheadlight translate [OPTIONS] DIR [FILE]\n```\n"));
  EXPECT_THAT(
      page,
      HasSubstr("\n`--top-k N`\n:   Sample from the N most probable tokens; 0: from all \\[the model's, or 50\\]\n"));
  EXPECT_THAT(page, HasSubstr("\n## Examples\n\n```text\n  echo 'Ein Hund"));
  for (const Command* command : LeavesOf(*program)) EXPECT_THAT(ReferencePage(*command), HasSubstr("\n## Examples\n"));
}

}  // namespace
}  // namespace headlight::docs_commands_test

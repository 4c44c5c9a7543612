// Checks that every name in backquotes exists, in the documentation and in comments of headers. A name may be an
// identifier or a key in the code, an option of a program, or a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headlight::docs_names_test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string, std::less<>>;

const fs::path kRoot = HEADLIGHT_SOURCE_DIR;

// Names of other projects, of formulas and of examples.
const Names kForeign = {"BertForNextSentencePrediction",
                        "https_proxy",
                        "CT2_FORCE_CPU_ISA",
                        "FFN",
                        "ONEDNN_MAX_CPU_ISA",
                        "_i",
                        "x_i",
                        "x_j",
                        "alpha",
                        "--cflags",
                        "--libs",
                        "--gtest_filter",
                        "--allow-run-as-root",
                        "--bind-to",
                        "--oversubscribe",
                        "--mca",
                        "odls_base_sigkill_timeout",
                        "square.h",
                        "square.cc",
                        "square_test.cc",
                        "weights.safetensors",
                        "model-00001-of-00003.safetensors"};

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the words of `text`. Words consist of word characters and the characters in `more`.
std::vector<std::string> Words(std::string_view text, std::string_view more = "") {
  const auto belongs = [&](char c) { return IsWordCharacter(c) || more.find(c) != std::string_view::npos; };
  std::vector<std::string> words;
  for (auto begin = text.begin(); (begin = std::find_if(begin, text.end(), belongs)) != text.end();) {
    const auto end = std::find_if_not(begin, text.end(), belongs);
    words.emplace_back(begin, end);
    begin = end;
  }
  return words;
}

// A source divided into code (including literals), comments and literals. A comment begins with `comment` and ends with
// the line.
struct Source {
  std::string code, comments;
  std::vector<std::string> literals;
};
Source Divide(std::string_view text, std::string_view comment = "//") {
  Source source;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, comment.size()) == comment) {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      source.comments.append(text.substr(i + comment.size(), end - i - comment.size())) += ' ';
      i = end;
    } else if (text[i] == '"') {
      std::size_t end = i + 1;
      if (i > 0 && text[i - 1] == 'R' && comment == "//") {  // R"name( ... )name"
        const std::size_t open = std::min(text.find('(', i), text.size() - 1);
        const std::string close = ")" + std::string(text.substr(i + 1, open - i - 1)) + "\"";
        end = text.find(close, i);
        end = end == std::string_view::npos ? text.size() - 1 : end + close.size() - 1;
      } else {
        while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
        end = std::min(end, text.size() - 1);
      }
      source.literals.emplace_back(text.substr(i + 1, end - i - 1));
      source.code.append(text.substr(i, end + 1 - i));
      i = end + 1;
    } else if (text[i] == '\'' && comment == "//" && i > 0 && !IsWordCharacter(text[i - 1])) {
      // Skips a character literal. The quote in 1'000 is a digit separator.
      i = std::min(text.find('\'', i + (text[i + 1] == '\\' ? 3 : 2)), text.size() - 1) + 1;
    } else {
      source.code += text[i++];
    }
  }
  return source;
}

struct Known {
  Names words;  // identifiers of the code, and the words in literals
  Names keys;   // literals that consist of one word
  Names files;  // files named by literals
  Names paths;  // files and folders of the project, as full paths or suffixes of paths

  void AddCode(const Source& source) {
    for (std::string& word : Words(source.code)) words.insert(std::move(word));
    for (std::string& word : Words(source.code, "-")) {  // options that programs declare or scripts pass
      if (word.starts_with("--")) words.insert(std::move(word));
    }
    for (const std::string& literal : source.literals) {
      if (std::ranges::all_of(literal, IsWordCharacter)) keys.insert(literal);
      for (std::string& word : Words(literal, ".-")) {
        if (word.find('.') != std::string::npos) files.insert(std::move(word));
      }
    }
  }
};

// Returns the files of the project as paths relative to its root.
std::vector<fs::path> ProjectFiles() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot))
    if (entry.is_regular_file()) files.push_back(entry.path());
  for (const char* folder : {".ci", "bench", "cmake", "docs", "headlight", "scripts", "tests", "tools"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
  for (fs::path& file : files) file = file.lexically_relative(kRoot);
  return files;
}

bool IsTest(const std::string& path) { return path.ends_with("_test.cc"); }

Known ReadProject(const std::vector<fs::path>& files) {
  Known known;
  for (const fs::path& file : files) {
    for (auto begin = file.begin(); begin != file.end(); ++begin) {
      fs::path part;
      for (auto end = begin; end != file.end(); ++end) known.paths.insert((part /= *end).string());
    }
    const std::string path = file.string(), extension = file.extension();
    const std::string stem = file.stem();
    if (path.ends_with("_bench.cc")) known.words.insert("bench_" + stem.substr(0, stem.size() - 6));
    if (path.starts_with("docs/examples/")) known.words.insert("example_" + stem);
    if (IsTest(path)) {
      const std::string room = *std::next(file.begin());
      known.words.merge(Names{"test_" + room, "slow_test_" + room});
    }
    // Names in tests and in the documentation itself do not count.
    if (IsTest(path) || path.find("testdata") != std::string::npos || extension == ".md" || extension == ".svg")
      continue;
    const bool slashes = extension == ".cc" || extension == ".h" || extension == ".js" || extension == ".json";
    known.AddCode(Divide(ReadAll(kRoot / file), slashes ? "//" : "# "));
  }
  return known;
}

// Returns true for words in the style of identifiers, as opposed to words of a sentence or a formula.
bool LooksLikeName(const std::string& word) {
  const bool lower = std::ranges::any_of(word, [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
  const bool upper = std::ranges::any_of(word, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; });
  return word.size() > 1 &&
         (upper ? lower || word.find('_') != std::string::npos : word.find('_') != std::string::npos);
}

// Returns true if the path contains a placeholder, such as NAME in NAME_test.cc.
bool HasPlaceholder(const std::string& path) {
  return path.find_first_of("*{") != std::string::npos || path.starts_with("NAME_") ||
         std::ranges::any_of(Words(path), [](const std::string& word) {
           return word.size() > 1 && std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
         });
}

// Returns the names in a span of backquotes that do not exist. For a header's comment, `own` are the words of the
// header's code.
std::vector<std::string> Missing(const std::string& span, const Known& known, const Names* own = nullptr) {
  std::vector<std::string> missing;
  const std::vector<std::string> all = Words(span, "-./*{},");
  for (std::string word : all) {
    while (!word.empty() && std::string_view(".,/").find(word.back()) != std::string_view::npos) word.pop_back();
    const bool is_path = word.find('/') != std::string::npos || word.find('.') != std::string::npos;
    if (word.starts_with("--")) {
      if (!known.words.contains(word) && !kForeign.contains(word)) missing.push_back(word);
    } else if (HasPlaceholder(word)) {
      continue;
    } else if (is_path) {
      const std::string extension = fs::path(word).extension(), last = fs::path(word).filename();
      const bool is_source = Names{".h", ".cc", ".md", ".py", ".cmake"}.contains(extension);
      const bool is_data = Names{".json", ".txt", ".safetensors"}.contains(extension);
      if ((is_source || is_data) && !known.paths.contains(word) && !(is_data && known.files.contains(last)) &&
          !kForeign.contains(last))
        missing.push_back(word);
    } else {
      for (const std::string& name : Words(word)) {
        if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) continue;
        const bool alone = name == span;
        const bool exists = known.words.contains(name) || known.paths.contains(name) || kForeign.contains(name);
        // In a header, a single lower-case word must be a parameter or member of the same header, or a key of a file.
        const bool here = own == nullptr || !alone || own->contains(name) || known.keys.contains(name) ||
                          LooksLikeName(name) || known.paths.contains(name);
        if ((alone || LooksLikeName(name)) && !(exists && here)) missing.push_back(name);
      }
    }
  }
  return missing;
}

// Returns one complaint per unknown name in all spans of backquotes of a text.
std::vector<std::string> WrongNames(const std::string& where, std::string_view text, const Known& known,
                                    const Names* own = nullptr) {
  std::vector<std::string> complaints;
  for (std::size_t begin; (begin = text.find('`')) != std::string_view::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string_view::npos)
      return complaints.emplace_back(where + ": a backquote is not closed"), complaints;
    for (const std::string& name : Missing(std::string(text.substr(begin + 1, end - begin - 1)), known, own))
      complaints.push_back(where + ": there is no `" + name + "`");
    text.remove_prefix(end + 1);
  }
  return complaints;
}

// Returns a page without its programs, which docs_test.cc checks.
std::string WithoutPrograms(const std::string& page) {
  std::string text;
  bool in_program = false;
  for (std::size_t begin = 0; begin < page.size();) {
    const std::size_t end = std::min(page.find('\n', begin), page.size());
    const std::string_view line = std::string_view(page).substr(begin, end - begin);
    const bool fence = line.starts_with("```");
    in_program = in_program != fence;
    if (!in_program && !fence) text.append(line) += ' ';
    begin = end + 1;
  }
  return text;
}

std::vector<std::string> WrongNamesOfHeader(const std::string& path, const std::string& text, const Known& known) {
  const Source source = Divide(text);
  Names own;
  for (std::string& word : Words(source.code)) own.insert(std::move(word));
  return WrongNames(path, source.comments, known, &own);
}

TEST(DocsNames, EveryNameInBackquotesExists) {
  const std::vector<fs::path> files = ProjectFiles();
  const Known known = ReadProject(files);
  ASSERT_GT(known.words.size(), 1000U);
  for (const fs::path& file : files) {
    const std::string path = file.string();
    std::vector<std::string> wrong;
    if (file.extension() == ".md") wrong = WrongNames(path, WithoutPrograms(ReadAll(kRoot / file)), known);
    if (file.extension() == ".h") wrong = WrongNamesOfHeader(path, ReadAll(kRoot / file), known);
    EXPECT_THAT(wrong, testing::IsEmpty());
  }
}

TEST(DocsNames, PlantedNamesAreCaught) {
  using testing::ElementsAre;
  using testing::HasSubstr;
  using testing::IsEmpty;
  Known known;
  known.paths = {"headlight/kinds/model.h", "kinds/model.h", "model.h"};
  known.AddCode(
      Divide("struct Model { void Save(); };  // SaveModel\n"
             "const char* a = R\"(\"x)\"; char b = '\"'; int n = 1'000; Add(\"--beam-size\"), \"model_type\", "
             "\"config.json\"; int save;"));
  EXPECT_THAT(
      WrongNames("page", "`Model` `Save()` `headlight --beam-size 4` `model_type` `kinds/model.h` `out/config.json`",
                 known),
      IsEmpty());
  EXPECT_THAT(WrongNames("page", "call `SaveModel`", known), ElementsAre("page: there is no `SaveModel`"));
  EXPECT_THAT(WrongNames("page", "`--beams 4`", known), ElementsAre(HasSubstr("--beams")));
  EXPECT_THAT(WrongNames("page", "`nn/models.h`", known), ElementsAre(HasSubstr("nn/models.h")));
  EXPECT_THAT(WrongNames("page", "`primitive`", known), ElementsAre(HasSubstr("primitive")));
  EXPECT_THAT(WrongNames("page", "one `more", known), ElementsAre(HasSubstr("not closed")));
  EXPECT_THAT(WrongNames("page", WithoutPrograms("a\n```cpp\n`SaveModel`\n```\nb"), known), IsEmpty());
  // `save` is a word of the code, but not of this header.
  EXPECT_THAT(WrongNamesOfHeader("a.h", "int last;  // of the model that `save` was given", known),
              ElementsAre("a.h: there is no `save`"));
  EXPECT_THAT(WrongNamesOfHeader("a.h", "int save;  // the key `model_type` that `save` writes", known), IsEmpty());
}

}  // namespace
}  // namespace headlight::docs_names_test

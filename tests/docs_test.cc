// Checks that excerpts in the documentation equal the files that they name, and that links lead to files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace headlight::docs_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path kRoot = HEADLIGHT_SOURCE_DIR;

Lines LinesOf(std::istream& text) {
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

Lines LinesOf(const fs::path& path) {
  std::ifstream text(path);
  return LinesOf(text);
}

// Returns true if the excerpt is in the file, with any common indentation.
bool Contains(const Lines& file, const Lines& excerpt) {
  if (excerpt.empty()) return false;
  for (std::size_t begin = 0; begin + excerpt.size() <= file.size(); ++begin) {
    if (!file[begin].ends_with(excerpt.front())) continue;
    const std::string indent = file[begin].substr(0, file[begin].size() - excerpt.front().size());
    if (indent.find_first_not_of(' ') != std::string::npos) continue;
    const bool same = std::equal(excerpt.begin(), excerpt.end(), file.begin() + static_cast<std::ptrdiff_t>(begin),
                                 [&](const std::string& ours, const std::string& theirs) {
                                   return theirs == (ours.empty() ? "" : indent + ours);
                                 });
    if (same) return true;
  }
  return false;
}

// Returns one complaint per excerpt ("```cpp PATH" to "```") that is not in its file.
Lines WrongExcerpts(const std::string& name, const Lines& page, const fs::path& root, int* checked = nullptr) {
  Lines complaints;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (!page[i].starts_with("```") || page[i] == "```") continue;
    std::istringstream info(page[i].substr(3));
    std::string language, path;
    info >> language >> path;
    const auto begin = page.begin() + static_cast<std::ptrdiff_t>(i) + 1, end = std::find(begin, page.end(), "```");
    if (!path.empty() && !Contains(LinesOf(root / path), Lines(begin, end)))
      complaints.push_back(name + ":" + std::to_string(i + 1) + ": is not in " + path);
    if (!path.empty() && checked != nullptr) ++*checked;
    i = static_cast<std::size_t>(end - page.begin());
  }
  return complaints;
}

// Returns one complaint per indented C++ statement. Such a statement is not compared with a file.
Lines UncheckedPrograms(const std::string& name, const Lines& page) {
  Lines complaints;
  bool in_program = false;
  for (const std::string& line : page) {
    if (line.starts_with("```")) in_program = !in_program;
    if (!in_program && line.starts_with("    ") && line.ends_with(';')) complaints.push_back(name + ": " + line);
  }
  return complaints;
}

// Returns one complaint per link to a missing file. Programs are skipped.
Lines DeadLinks(const fs::path& page, const Lines& lines) {
  static const std::regex link(R"(\]\(([^)#]+)(#[^)]*)?\))");
  Lines complaints;
  bool in_program = false;
  for (const std::string& line : lines) {
    if (line.starts_with("```")) in_program = !in_program;
    if (in_program) continue;
    for (std::sregex_iterator match(line.begin(), line.end(), link), end; match != end; ++match) {
      const std::string target = match->str(1);
      if (target.find("://") == std::string::npos && !fs::exists(page.parent_path() / target))
        complaints.push_back(page.string() + ": nothing at " + target);
    }
  }
  return complaints;
}

TEST(Docs, ExcerptsAndLinksHold) {
  std::vector<fs::path> pages = {kRoot / "README.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  int checked = 0;
  for (const fs::path& page : pages) {
    const Lines lines = LinesOf(page);
    ASSERT_FALSE(lines.empty()) << page;
    EXPECT_THAT(WrongExcerpts(page.filename(), lines, kRoot, &checked), testing::IsEmpty());
    EXPECT_THAT(UncheckedPrograms(page.filename(), lines), testing::IsEmpty());
    EXPECT_THAT(DeadLinks(page, lines), testing::IsEmpty());
  }
  EXPECT_GT(pages.size(), 10U);
  EXPECT_GT(checked, 10);
}

TEST(Docs, PlantedMistakesAreCaught) {
  const std::string example = "docs/examples/softmax.txt";
  const Lines printed = LinesOf(kRoot / example);
  EXPECT_THAT(WrongExcerpts("page", {"```text " + example, printed.at(0), "```"}, kRoot), testing::IsEmpty());
  EXPECT_THAT(WrongExcerpts("page", {"```text " + example, printed.at(0) + "!", "```"}, kRoot),
              testing::ElementsAre("page:1: is not in " + example));
  EXPECT_THAT(WrongExcerpts("page", {"```text docs/no_such_file", "x", "```"}, kRoot), testing::SizeIs(1));
  EXPECT_TRUE(Contains({"  if (a) {", "", "    b();", "  }"}, {"if (a) {", "", "  b();", "}"}));
  EXPECT_FALSE(Contains({"  if (a) {", "  b();", "  }"}, {"if (a) {", "  b();", "}"}));
  EXPECT_THAT(UncheckedPrograms("page", {"    int a;", "```cpp x", "    int b;", "```"}),
              testing::ElementsAre("page:     int a;"));
  EXPECT_THAT(DeadLinks(kRoot / "README.md", {"[a](CONTRIBUTING.md#x) [b](docs/nowhere.md) [c](https://arxiv.org)"}),
              testing::ElementsAre(testing::HasSubstr("docs/nowhere.md")));
}

}  // namespace
}  // namespace headlight::docs_test

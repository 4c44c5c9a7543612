// Checks that a file includes, directly or indirectly, a header that declares each of the project's types that it
// names. The compiler does not check this, because several files are compiled together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/file.h"

namespace headlight::included_types_test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string, std::less<>>;

// The types that a source declares, defines and names.
struct Source {
  std::vector<std::string> includes;  // headers of the project
  Names declared;                     // types, type parameters and aliases, in any scope
  Names defined;                      // types that are defined in a namespace
  Names named;                        // identifiers that begin with an upper-case letter and are not members or calls
};

// Returns the end of the comment or string that begins at `at`, or `at` if no comment or string begins there.
std::size_t EndOfText(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const auto after = [&](std::string_view end, std::size_t from) {
    const std::size_t found = rest.find(end, from);
    return found == std::string_view::npos ? text.size() : at + found + end.size();
  };
  if (rest.starts_with("//")) return after("\n", 2);
  if (rest.starts_with("/*")) return after("*/", 2);
  if (rest.starts_with("R\"")) {
    const std::size_t open = rest.find('(');
    return after(")" + std::string(rest.substr(2, open - 2)) + "\"", open);
  }
  if (!rest.starts_with('"')) return at;
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  return at + end + 1;
}

Source Read(std::string_view text) {
  static const Names introduce = {"struct", "class", "enum", "using", "typename", "concept"};
  static const Names between = {"struct", "class", "HEADLIGHT_API"};
  Source source;
  bool declares = false, defines = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    if (constexpr std::string_view include = "#include \""; begins_line && text.substr(at).starts_with(include)) {
      at += include.size();
      source.includes.emplace_back(text.substr(at, text.find('"', at) - at));
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (const std::size_t end = EndOfText(text, at); end != at) {
      at = end;
      continue;
    }
    const auto of_word = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
    };
    std::size_t end = at;
    while (of_word(end)) ++end;
    if (end == at) {
      declares = declares && text[at] == ' ';
      ++at;
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const char before = at == 0 ? '\n' : text[at - 1];
    at = end;
    if (introduce.contains(word) || (declares && between.contains(word))) {
      defines = declares ? defines : before == '\n' && word != "using";
      declares = true;
      continue;
    }
    if (declares) {
      source.declared.emplace(word);
      if (defines && at < text.size() && text[at] != ';') source.defined.emplace(word);
    } else if (std::isupper(static_cast<unsigned char>(word[0])) != 0 && before != '.' && before != '>' &&
               before != ':' && (at == text.size() || (text[at] != '(' && text[at] != '<'))) {
      source.named.emplace(word);
    }
    declares = false;
  }
  return source;
}

// Returns one complaint per type: "file: names TYPE".
std::vector<std::string> Missing(const std::map<std::string, Source>& sources) {
  Names ours;
  for (const auto& [path, source] : sources)
    if (path.ends_with(".h")) ours.insert(source.defined.begin(), source.defined.end());
  std::vector<std::string> complaints;
  for (const auto& [path, source] : sources) {
    std::set<std::string> reached = {path};
    Names declared;
    for (std::vector<std::string> next = {path}; !next.empty();) {
      const std::string header = next.back();
      next.pop_back();
      if (!sources.contains(header)) continue;
      declared.insert(sources.at(header).declared.begin(), sources.at(header).declared.end());
      for (const std::string& included : sources.at(header).includes)
        if (reached.insert(included).second) next.push_back(included);
    }
    for (const std::string& name : source.named)
      if (ours.contains(name) && !declared.contains(name)) complaints.push_back(path + ": names " + name);
  }
  return complaints;
}

TEST(IncludedTypes, CoverTheTypesThatAFileNames) {
  const fs::path root = HEADLIGHT_SOURCE_DIR;
  std::map<std::string, Source> sources;
  std::size_t types = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "headlight")) {
    const std::string path = fs::relative(entry.path(), root);
    if (!path.ends_with(".h") && !path.ends_with(".cc")) continue;
    if (path.ends_with("testing.h") || path.ends_with("_test.cc") || path.ends_with("_bench.cc"))
      continue;  // the name of a test suite
    types += (sources[path] = Read(ReadFile(entry.path()))).defined.size();
  }
  EXPECT_GT(types, 500U);
  EXPECT_THAT(Missing(sources), testing::IsEmpty());
}

TEST(IncludedTypes, PlantedMissingIncludesAreCaught) {
  const std::string box =
      "struct Box {\n  int x;\n};\nenum class Side { left };\nclass HEADLIGHT_API Tree : Node {};\n";
  const auto missing = [&](const std::string& text) {
    return Missing({{"box.h", Read(box)}, {"over_box.h", Read("#include \"box.h\"\n")}, {"a.cc", Read(text)}});
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(missing("int Sum(const Box& box);"), ElementsAre("a.cc: names Box"));
  EXPECT_THAT(missing("std::vector<Side> Sides(Tree);"), ElementsAre("a.cc: names Side", "a.cc: names Tree"));
  EXPECT_THAT(missing("#include \"box.h\"\nBox a;"), IsEmpty());
  EXPECT_THAT(missing("#include \"over_box.h\"\nBox a; Side b;"), IsEmpty());
  EXPECT_THAT(missing("class Tree;\nTree* Leaf();"), IsEmpty());
  EXPECT_THAT(missing("template <typename Box>\nvoid F(Box);"), IsEmpty());
  EXPECT_THAT(missing("// Box\nconst char* a = \"a \\\" Box\"; /* Box */ auto b = R\"x(\" Box)x\";"), IsEmpty());
  EXPECT_THAT(missing("int a = drawing.Box() + Drawing::Side(0);"), IsEmpty());
}

}  // namespace
}  // namespace headlight::included_types_test

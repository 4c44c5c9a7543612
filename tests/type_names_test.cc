// Checks that every type in the namespace has a unique name. Two types with the same name in different files compile,
// but the linker merges their template instantiations, such as std::vector's functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace headlight::type_names_test {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;  // text of each file by path

// Returns "NAME: FILE, FILE" for each type that several files define outside unnamed namespaces.
std::vector<std::string> Shared(const Files& files) {
  static const std::regex space(R"(namespace ([\w:]*) ?\{)");
  static const std::regex type(
      R"((?:struct|class|enum class) (?:HEADLIGHT_API )?(\w+)(?: final)?(?: : [^;()]*)? \{.*)");
  std::map<std::string, std::set<std::string>> places;
  for (const auto& [path, text] : files) {
    std::vector<std::string> spaces;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_match(line, match, space)) {
        spaces.push_back(match[1]);
      } else if (line.starts_with("}  // namespace")) {
        spaces.pop_back();
      } else if (std::regex_match(line, match, type) && !spaces.empty() && !spaces.back().empty()) {
        places[spaces.back() + "::" + match.str(1)].insert(path);
      }
    }
  }
  std::vector<std::string> shared;
  for (const auto& [name, where] : places) {
    if (where.size() < 2) continue;
    std::string line = name + ":";
    for (const std::string& path : where) line += " " + path;
    shared.push_back(line);
  }
  return shared;
}

TEST(TypeNames, AreUnique) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(HEADLIGHT_SOURCE_DIR "/headlight")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    files[entry.path()] = text.str();
  }
  EXPECT_GT(files.size(), 500U);
  EXPECT_THAT(Shared(files), testing::IsEmpty());
}

TEST(TypeNames, PlantedDuplicatesAreCaught) {
  const std::string one = "namespace headlight {\nstruct Row {\n  int a;\n};\n}  // namespace headlight\n";
  EXPECT_THAT(Shared({{"a.h", one}, {"b.h", one}}), testing::ElementsAre("headlight::Row: a.h b.h"));
  const std::string hidden =
      "namespace headlight {\nnamespace {\nstruct Row {};\n}  // namespace\n}  // namespace headlight\n";
  const std::string other =
      "namespace headlight::kernels {\nclass Row : Base {\n};\n}  // namespace headlight::kernels\n";
  EXPECT_THAT(Shared({{"a.h", one}, {"b.cc", hidden}, {"c.h", other}}), testing::IsEmpty());
}

}  // namespace
}  // namespace headlight::type_names_test

// Checks that a command's JSON names a value as the library's headers do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace headlight::json_keys_test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kHeadlight = fs::path(HEADLIGHT_SOURCE_DIR) / "headlight";

// Keys that are not names in a header. They are in COCO's file formats, or are computed by one command, or are lists
// with one value for each token or mask.
const Names kOthers = {"all_atom_rmsd",
                       "area",
                       "baseline_half_width",
                       "baseline_mean",
                       "bbox",
                       "byte_spans",
                       "category_id",
                       "chains_paired_by",
                       "character_spans",
                       "drmsd",
                       "image_id",
                       "log_probabilities",
                       "masks",
                       "memory_bytes",
                       "rmsd"};

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the keys of the objects that a source builds with Json::Object and Set("key", ...).
Names KeysOf(const std::string& source) {
  static const std::regex member(R"re(\{"([a-z_0-9]+)",)re"), set(R"re(\.Set\("([a-z_0-9]+)",)re");
  Names keys;
  const auto collect = [&](const std::string& text, const std::regex& pattern) {
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
      keys.insert((*match)[1]);
  };
  collect(source, set);
  static const std::regex object(R"re(Json::Object( [a-z_]+ = )?\{)re");
  for (std::sregex_iterator match(source.begin(), source.end(), object), last; match != last; ++match) {
    const auto begin = static_cast<std::size_t>(match->position() + match->length());
    std::size_t end = begin;
    for (int depth = 1; depth > 0 && end < source.size(); ++end) depth += (source[end] == '{') - (source[end] == '}');
    collect(source.substr(begin, end - begin), member);
  }
  return keys;
}

// Returns the names that the code of a header declares or uses.
Names NamesOf(const std::string& header) {
  static const std::regex comment("//[^\n]*"), name("[a-z][a-z_0-9]*");
  const std::string code = std::regex_replace(header, comment, "");
  return {std::sregex_token_iterator(code.begin(), code.end(), name), {}};
}

TEST(JsonKeys, AreNamesOfTheLibrary) {
  Names names, keys;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kHeadlight)) {
    const std::string path = entry.path().lexically_relative(kHeadlight);
    if (path.ends_with(".h") && !path.starts_with("cli/")) names.merge(NamesOf(ReadAll(entry.path())));
    if (path.ends_with(".cc") && !path.ends_with("_test.cc") && path.starts_with("cli/commands/"))
      keys.merge(KeysOf(ReadAll(entry.path())));
  }
  EXPECT_GT(keys.size(), 50U);
  for (const std::string& key : keys)
    EXPECT_TRUE(names.contains(key) || kOthers.contains(key)) << "no header has the name " << key;
  for (const std::string& key : kOthers) EXPECT_TRUE(keys.contains(key)) << "no command writes " << key;
}

TEST(JsonKeys, AreFoundInASource) {
  EXPECT_THAT(KeysOf(R"(Json a = Json::Object{{"one", {{"two", 3}}}}; a.Set("three", b); Table{{"four", 5}};
                        Json::Object row = {{"six", 7}};)"),
              testing::ElementsAre("one", "six", "three", "two"));
  EXPECT_THAT(NamesOf("int count;  // of rows\n"), testing::ElementsAre("count", "int"));
}

}  // namespace
}  // namespace headlight::json_keys_test

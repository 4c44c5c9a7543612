// Checks every #include of the project against the table of folders and the libraries that each folder may use. Stems
// within a folder must not include each other in a cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace headlight::include_edges_test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// The folders that each folder may include. A folder may also include everything that those folders may include.
// Therefore `train`, `generate` and `inspect` may include the interfaces of `kinds` but no family of `models`, and a
// lower layer never includes a higher one.
const std::map<std::string, Names> kFolders = {
    {"base", {}},
    {"hub", {"base"}},
    {"kernels", {"base"}},
    {"tensor", {"base"}},
    {"autograd", {"tensor"}},
    {"ops", {"kernels", "autograd"}},
    {"io", {"tensor", "kernels"}},
    {"text", {"base"}},
    {"text/tokenizers", {"text"}},
    {"text/metrics", {"text"}},
    {"image", {"base", "tensor"}},
    {"protein", {"base", "tensor"}},
    {"nn", {"ops", "io"}},
    {"protein/nn", {"nn", "protein"}},
    {"kinds", {"nn", "protein/nn"}},
    {"models", {"kinds"}},
    {"data", {"text/tokenizers", "text/metrics", "image", "protein", "tensor"}},
    {"generate", {"kinds", "text/tokenizers", "text/metrics"}},
    {"train", {"kinds", "data", "generate"}},
    {"inspect", {"kinds", "text/tokenizers", "text/metrics", "image", "protein"}},
    {"search", {"io", "text"}},
    {"pipelines", {"models", "generate", "inspect", "search"}},
    {"recipes", {"pipelines", "train"}},
    {"synthetic", {"data"}},
};
// The folders that may include everything. No other folder may include them.
const Names kComposers = {"headlight", "server", "cli", "python", "tests", "bench", "docs", "tools"};

// A library with restricted use. Headers may include it only if `in_headers` is true. Only `folders` may include it; if
// `folders` is empty, all may.
struct Library {
  std::regex path;
  bool in_headers;
  Names folders;
};
const std::vector<std::pair<std::string, Library>> kLibraries = {
    {"Highway", {std::regex("hwy/.*"), false, {}}},
    {"nlohmann/json", {std::regex("nlohmann/.*"), false, {"base"}}},
    {"ICU", {std::regex("unicode/.*"), false, {"text", "text/tokenizers", "text/metrics"}}},
    {"Cairo and Pango", {std::regex("(cairo|pango).*"), false, {"inspect"}}},
    {"image formats", {std::regex("(jpeglib|png|webp/.*)\\.h"), false, {"image"}}},
    {"gemmi", {std::regex("gemmi/.*"), false, {"protein"}}},
    {"pugixml", {std::regex("pugixml\\.hpp"), false, {"image"}}},
    {"libcurl", {std::regex("curl/.*"), false, {"hub"}}},
    {"OpenSSL", {std::regex("openssl/.*"), false, {"hub"}}},
    {"SentencePiece", {std::regex("sentencepiece.*"), false, {"text/tokenizers"}}},
    // The library never prints and has no command line.
    {"CLI11", {std::regex("CLI/.*"), true, {"cli", "server"}}},
    {"MPI", {std::regex("mpi\\.h"), false, {"cli"}}},
};

// Returns `folder` and the folders that it may include.
Names Reachable(const std::string& folder) {
  Names reached{folder};
  for (const std::string& next : kFolders.at(folder)) reached.merge(Reachable(next));
  return reached;
}

// Returns the folder of the table that contains this file, or "headlight" for a file directly in it. For other files,
// returns the first folder of the path.
std::string FolderOf(const fs::path& path) {
  auto part = path.begin();
  if (*part != "headlight" || std::next(part) == path.end()) return *part;
  const std::string folder = *++part;
  if (std::next(part) == path.end()) return "headlight";
  const std::string within = folder + "/" + (++part)->string();
  return kFolders.contains(within) ? within : folder;
}

// Returns true for headers that only sources include: Highway's `-inl.h`, which are included once for each instruction
// set, and headers shared by tests.
bool IsPieceOfSource(const std::string& path) {
  return path.ends_with("-inl.h") || path.ends_with("testing.h") || path.ends_with("test_support.h");
}
bool IsHeader(const std::string& path) { return path.ends_with(".h") && !IsPieceOfSource(path); }

std::string WrongEdge(const fs::path& file, const std::string& included, bool quoted) {
  const std::string folder = FolderOf(file);
  const bool composes = kComposers.contains(folder);
  if (!composes && !kFolders.contains(folder)) return folder + " is not a folder of the table";

  for (const auto& [name, library] : kLibraries) {
    if (!std::regex_match(included, library.path)) continue;
    if (!library.in_headers && IsHeader(file)) return name + " never appears in a header";
    if (!library.folders.empty() && !library.folders.contains(folder)) return name + " is not allowed in " + folder;
    return "";
  }
  if (!quoted) return "";
  const std::string top = *fs::path(included).begin();
  if (top != "headlight" && !kComposers.contains(top))
    return "a header of the project needs a path from the project's root; a header of another library needs angle "
           "brackets";
  if (IsPieceOfSource(included) && IsHeader(file)) return "a header must not include a part of a source";
  const std::string target = FolderOf(included);
  if (composes || Reachable(folder).contains(target)) return "";
  return folder + " may not include " + target;
}

struct Include {
  int line = 0;
  std::string path;
  bool quoted = false;
};

std::vector<Include> IncludesOf(std::istream& text) {
  static const std::regex include(R"re(\s*#\s*include\s*([<"])([^>"]+)[>"].*)re");
  std::vector<Include> includes;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, include)) includes.push_back({number, match[2], match[1] == "\""});
  }
  return includes;
}

// Returns one complaint per forbidden include: "file:line: #include of path: rule".
std::vector<std::string> WrongEdges(const fs::path& file, std::istream& text) {
  std::vector<std::string> complaints;
  for (const auto& [line, path, quoted] : IncludesOf(text))
    if (const std::string rule = WrongEdge(file, path, quoted); !rule.empty())
      complaints.push_back(file.string() + ":" + std::to_string(line) + ": #include of " + path + ": " + rule);
  return complaints;
}

std::vector<std::string> WrongEdges(const fs::path& file, const std::string& text) {
  std::istringstream stream(text);
  return WrongEdges(file, stream);
}

// Returns the stem of a file: the path without the ending. A header, its source and its `-inl.h` have the same stem.
// The result is empty for tests, fuzzers, benchmarks and their shared headers, which no other files include.
std::string StemOf(const std::string& path) {
  static const std::regex stem(R"((headlight/.*?)(-inl)?\.(h|cc))");
  for (const std::string ending : {"_test.cc", "_fuzz.cc", "_bench.cc", "testing.h", "test_support.h"})
    if (path.ends_with(ending)) return "";
  std::smatch match;
  return std::regex_match(path, match, stem) ? match.str(1) : "";
}

// A graph of the includes between stems of the same folder.
class StemGraph {
 public:
  void Add(const std::string& file, std::istream& text) {
    const std::string from = StemOf(file);
    if (from.empty()) return;
    for (const Include& include : IncludesOf(text)) {
      const std::string to = include.quoted ? StemOf(include.path) : "";
      if (to.empty() || to == from || fs::path(to).parent_path() != fs::path(from).parent_path()) continue;
      edges_[from].insert(to);
    }
  }

  // Returns cycles, each as "a -> b -> a". If there are cycles, at least one is found.
  std::vector<std::string> Rings() {
    rings_.clear();
    done_.clear();
    for (const auto& [stem, included] : edges_) Visit(stem);
    return rings_;
  }

 private:
  void Visit(const std::string& stem) {
    if (const auto open = std::ranges::find(path_, stem); open != path_.end()) {
      std::string ring;
      for (auto at = open; at != path_.end(); ++at) ring += *at + " -> ";
      rings_.push_back(ring + stem);
      return;
    }
    if (!done_.insert(stem).second) return;
    path_.push_back(stem);
    if (const auto included = edges_.find(stem); included != edges_.end())
      for (const std::string& next : included->second) Visit(next);
    path_.pop_back();
  }

  std::map<std::string, Names> edges_;
  std::vector<std::string> path_, rings_;  // path_: from the first stem to the current stem
  Names done_;
};

// Calls each(path, text) for the sources and headers of the project. Paths are relative to its root.
template <typename Each>
void ForEachSource(const Each& each) {
  const fs::path root = HEADLIGHT_SOURCE_DIR;
  for (const std::string top : {"headlight", "tests", "bench", "docs", "tools"}) {
    if (!fs::exists(root / top)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
      std::ifstream text(entry.path());
      ASSERT_TRUE(text) << entry.path();
      each(fs::relative(entry.path(), root), text);
    }
  }
}

TEST(IncludeEdges, ProjectObeysTheTable) {
  int files = 0;
  ForEachSource([&](const fs::path& file, std::istream& text) {
    EXPECT_THAT(WrongEdges(file, text), testing::IsEmpty());
    ++files;
  });
  EXPECT_GT(files, 10) << "no sources under " << HEADLIGHT_SOURCE_DIR;
}

TEST(IncludeEdges, ProjectHasNoCycles) {
  StemGraph stems;
  ForEachSource([&](const fs::path& file, std::istream& text) { stems.Add(file, text); });
  EXPECT_THAT(stems.Rings(), testing::IsEmpty());
}

std::vector<std::string> RingsOf(const std::map<std::string, std::string>& files) {
  StemGraph stems;
  for (const auto& [file, text] : files) {
    std::istringstream stream(text);
    stems.Add(file, stream);
  }
  return stems.Rings();
}

TEST(IncludeEdges, PlantedCyclesAreCaught) {
  using testing::ElementsAre;
  const auto include = [](const std::string& path) { return "#pragma once\n#include \"headlight/" + path + "\"\n"; };
  // The cycle consists of a header and the other stem's source.
  EXPECT_THAT(RingsOf({{"headlight/io/a.h", include("io/b.h")}, {"headlight/io/b.cc", include("io/a.h")}}),
              ElementsAre("headlight/io/a -> headlight/io/b -> headlight/io/a"));
  // The cycle has three stems, one of them through its -inl.h. Another stem is outside the cycle.
  EXPECT_THAT(RingsOf({{"headlight/kernels/a.cc", include("kernels/d.h") + include("kernels/b-inl.h")},
                       {"headlight/kernels/b-inl.h", include("kernels/c.h")},
                       {"headlight/kernels/c.cc", include("kernels/a.h")},
                       {"headlight/kernels/e.cc", include("kernels/a.h")}}),
              ElementsAre("headlight/kernels/a -> headlight/kernels/b -> headlight/kernels/c -> headlight/kernels/a"));
  // There are two cycles.
  EXPECT_THAT(RingsOf({{"headlight/text/metrics/a.h", include("text/metrics/b.h")},
                       {"headlight/text/metrics/b.h", include("text/metrics/a.h")},
                       {"headlight/nn/a.h", include("nn/b.h")},
                       {"headlight/nn/b.cc", include("nn/a.h")}}),
              ElementsAre("headlight/nn/a -> headlight/nn/b -> headlight/nn/a",
                          "headlight/text/metrics/a -> headlight/text/metrics/b -> headlight/text/metrics/a"));
}

TEST(IncludeEdges, AcyclicStemsPass) {
  const auto include = [](const std::string& path) { return "#include \"headlight/" + path + "\"\n"; };
  EXPECT_THAT(RingsOf({{"headlight/io/a.cc", include("io/a.h") + include("io/b.h") + include("io/c.h")},
                       {"headlight/io/b.cc", include("io/b.h") + include("io/c.h")},
                       {"headlight/io/c_test.cc", include("io/c.h") + include("io/a.h")},
                       {"headlight/io/testing.h", include("io/a.h")},
                       {"headlight/io/c.cc", "// #include \"headlight/io/a.h\"\n" + include("io/zip_testing.h")},
                       {"headlight/io/d.h", include("text/d.h")},
                       {"headlight/text/d.h", include("text/tokenizers/d.h")}}),
              testing::IsEmpty());
}

TEST(IncludeEdges, PlantedEdgesAreCaught) {
  using testing::ElementsAre;
  using testing::HasSubstr;
  EXPECT_THAT(WrongEdges("headlight/kernels/gemm.cc", "#include <cmath>\n#include \"headlight/tensor/tensor.h\"\n"),
              ElementsAre("headlight/kernels/gemm.cc:2: #include of headlight/tensor/tensor.h: kernels may not include "
                          "tensor"));
  for (const std::string folder : {"train", "generate", "inspect", "nn", "data"})
    EXPECT_THAT(WrongEdges("headlight/" + folder + "/a_test.cc", "#include \"headlight/models/transformer.h\""),
                ElementsAre(HasSubstr(folder + " may not include models")));
  EXPECT_THAT(WrongEdges("headlight/base/a.cc", "# include \"headlight/cli/main.h\"  // hidden"),
              ElementsAre(HasSubstr("base may not include cli")));
  EXPECT_THAT(WrongEdges("headlight/inspect/a.cc", "#include \"headlight/train/loop.h\""),
              ElementsAre(HasSubstr("inspect may not include train")));
  EXPECT_THAT(WrongEdges("headlight/text/metrics/a.cc", "#include \"headlight/text/tokenizers/tokenizer.h\""),
              ElementsAre(HasSubstr("text/metrics may not include text/tokenizers")));
  EXPECT_THAT(WrongEdges("headlight/text/utf8.cc", "#include \"headlight/text/metrics/bleu.h\""),
              ElementsAre(HasSubstr("text may not include text/metrics")));
  EXPECT_THAT(WrongEdges("headlight/hub/a.cc", "#include \"headlight/io/model_folder.h\""),
              ElementsAre(HasSubstr("hub may not include io")));
  EXPECT_THAT(WrongEdges("headlight/pipelines/a.cc", "#include \"headlight/hub/pull.h\""),
              ElementsAre(HasSubstr("pipelines may not include hub")));
  EXPECT_THAT(WrongEdges("headlight/pipelines/a.cc", "#include \"headlight/synthetic/grammar.h\""),
              ElementsAre(HasSubstr("pipelines may not include synthetic")));
  EXPECT_THAT(WrongEdges("headlight/io/a.cc", "#include \"json.h\""), ElementsAre(HasSubstr("project's root")));
  EXPECT_THAT(WrongEdges("headlight/attic/a.cc", "#include <vector>"), ElementsAre(HasSubstr("not a folder")));
}

TEST(IncludeEdges, FilesDirectlyUnderHeadlightMayIncludeEverything) {
  EXPECT_THAT(
      WrongEdges("headlight/headlight.h", "#include \"headlight/pipelines/a.h\"\n#include \"headlight/search/a.h\""),
      testing::IsEmpty());
  EXPECT_THAT(WrongEdges("headlight/recipes/a.cc", "#include \"headlight/headlight.h\""),
              testing::ElementsAre(testing::HasSubstr("recipes may not include headlight")));
}

TEST(IncludeEdges, PlantedLibrariesAreCaught) {
  using testing::ElementsAre;
  using testing::HasSubstr;
  for (const std::string path : {"hwy/highway.h", "nlohmann/json.hpp", "unicode/unistr.h", "cairo.h",
                                 "pango/pangocairo.h", "sentencepiece_processor.h"})
    EXPECT_THAT(WrongEdges("headlight/cli/a.h", "#include <" + path + ">"),
                ElementsAre(HasSubstr("never appears in a header")));
  EXPECT_THAT(WrongEdges("headlight/kernels/a-inl.h", "#include <hwy/highway.h>"), testing::IsEmpty());
  EXPECT_THAT(WrongEdges("headlight/kernels/a.h", "#include \"headlight/kernels/a-inl.h\""),
              ElementsAre(HasSubstr("part of a source")));
  EXPECT_THAT(WrongEdges("headlight/cli/a.cc", "#include <nlohmann/json.hpp>"),
              ElementsAre(HasSubstr("nlohmann/json is not allowed in cli")));
  EXPECT_THAT(WrongEdges("headlight/ops/a.cc", "#include <CLI/CLI.hpp>"), ElementsAre(HasSubstr("not allowed in ops")));
  EXPECT_THAT(WrongEdges("headlight/cli/a.cc", "#include <curl/curl.h>"), ElementsAre(HasSubstr("not allowed in cli")));
  EXPECT_THAT(WrongEdges("headlight/ops/a.cc", "#include <unicode/unistr.h>"),
              ElementsAre(HasSubstr("ICU is not allowed in ops")));
  EXPECT_THAT(WrongEdges("headlight/text/a.cc", "#include <nlohmann/json.hpp>"),
              ElementsAre(HasSubstr("nlohmann/json is not allowed in text")));
}

TEST(IncludeEdges, AreTransitive) {
  EXPECT_THAT(WrongEdges("headlight/train/a.cc",
                         "#include \"headlight/base/error.h\"\n"
                         "#include \"headlight/kernels/gemm.h\"\n"
                         "#include \"headlight/text/metrics/bleu.h\"\n"
                         "#include <hwy/highway.h>\n"),
              testing::IsEmpty());
  EXPECT_THAT(WrongEdges("headlight/cli/a.cc", "#include \"headlight/models/transformer.h\"\n#include <CLI/CLI.hpp>\n"),
              testing::IsEmpty());
}

}  // namespace
}  // namespace headlight::include_edges_test

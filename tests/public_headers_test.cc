// Tests the two sets of installed headers (cmake/install.cmake). Users' headers must not include other headers. Engine
// headers must only include installed headers. The script tests/consumer/run checks that each of the users' headers
// compiles without other includes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::public_headers_test {
namespace {

using Headers = std::set<std::string>;
using Includes = std::map<std::string, std::vector<std::string>>;  // includes of the project's headers, by header

Headers ReadList(const std::string& name) {
  std::ifstream list(BuildFolder() + "/" + name);
  Headers headers;
  for (std::string line; std::getline(list, line);) headers.insert(line);
  return headers;
}

Includes ReadIncludes(const Headers& headers) {
  static const std::regex include("#include \"([^\"]+)\".*");
  Includes includes;
  for (const std::string& header : headers) {
    std::ifstream text(HEADLIGHT_SOURCE_DIR "/" + header);
    EXPECT_TRUE(text) << header;
    for (std::string line; std::getline(text, line);) {
      std::smatch match;
      if (std::regex_match(line, match, include)) includes[header].push_back(match[1]);
    }
  }
  return includes;
}

// Returns one complaint for each included header that is not in `installed`, or that is in kernels/ if this is
// forbidden.
std::vector<std::string> Wrong(const Includes& includes, const Headers& installed, bool kernels_forbidden) {
  std::vector<std::string> complaints;
  for (const auto& [header, included] : includes)
    for (const std::string& other : included)
      if (!installed.contains(other) || (kernels_forbidden && other.starts_with("headlight/kernels/")))
        complaints.push_back(header + " includes " + other);
  return complaints;
}

TEST(PublicHeaders, UsersHeadersIncludeOnlyEachOther) {
  const Headers users = ReadList("user_headers.txt");
  EXPECT_GT(users.size(), 10U);
  EXPECT_THAT(Wrong(ReadIncludes(users), users, true), testing::IsEmpty());
}

// Returns one complaint for each comment after a declaration that Doxygen leaves out. Comments of private members and
// of forward declarations are not for users.
std::vector<std::string> UndocumentedIn(const std::string& header, std::istream& text) {
  static const std::regex comment(R"(\s*[^/\s].*;\s+// .*)"), own(R"(.*_( = .*|\{.*)?;\s+//.*|(class|struct) \w+;.*)");
  std::vector<std::string> complaints;
  for (std::string line; std::getline(text, line);)
    if (std::regex_match(line, comment) && !std::regex_match(line, own)) complaints.push_back(header + ":" + line);
  return complaints;
}

TEST(PublicHeaders, CommentsOfMembersAreDocumentation) {
  for (const std::string& header : ReadList("user_headers.txt")) {
    std::ifstream text(HEADLIGHT_SOURCE_DIR "/" + header);
    EXPECT_THAT(UndocumentedIn(header, text), testing::IsEmpty());
  }
  std::istringstream bad(
      "  int a = 0;  // in pixels\n  int b = 0;  ///< in pixels\n  int c_ = 0;  // own\nclass D;  // d.h\n");
  EXPECT_THAT(UndocumentedIn("a.h", bad), testing::ElementsAre("a.h:  int a = 0;  // in pixels"));
}

// Returns one complaint for each header that a comment names as a folder and a file and that is not installed. Comments
// of forward declarations and names of kernels are for developers.
std::vector<std::string> NotInstalledIn(const std::string& header, std::istream& text, const Headers& installed) {
  static const std::regex comment(R"([^/]*//(.*))"), forward(R"((class|struct) \w+;.*)"),
      name(R"([a-z0-9_]+/[a-z0-9_/]+\.h\b)");
  std::vector<std::string> complaints;
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    if (std::regex_match(line, forward) || !std::regex_match(line, match, comment)) continue;
    const std::string words = match[1];
    for (std::sregex_iterator one(words.begin(), words.end(), name), end; one != end; ++one)
      if (!one->str().starts_with("kernels/") && !installed.contains("headlight/" + one->str()))
        complaints.push_back(header + ": " + one->str());
  }
  return complaints;
}

TEST(PublicHeaders, CommentsNameOnlyInstalledHeaders) {
  const Headers users = ReadList("user_headers.txt");
  Headers installed = ReadList("engine_headers.txt");
  installed.insert(users.begin(), users.end());
  for (const std::string& header : users) {
    std::ifstream text(HEADLIGHT_SOURCE_DIR "/" + header);
    EXPECT_THAT(NotInstalledIn(header, text, installed), testing::IsEmpty());
  }
  std::istringstream bad("class A;  // a/a.h\n/// A function such as B of b/c/b.h, or C of base/error.h.\n");
  EXPECT_THAT(NotInstalledIn("a.h", bad, installed), testing::ElementsAre("a.h: b/c/b.h"));
}

// Returns the member functions of structs and classes that are defined in a source and that the library does not
// export.
std::vector<std::string> HiddenMembersIn(std::istream& text) {
  static const std::regex type(R"((struct|class) (HEADLIGHT_API )?\w+.*\{)"),
      function(R"(  [^/ ][^={]*\)( const)?;.*)");
  std::vector<std::string> hidden;
  bool is_hidden = false;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_match(line, type)) is_hidden = line.find("HEADLIGHT_API") == std::string::npos;
    if (line.starts_with("}")) is_hidden = false;
    if (is_hidden && std::regex_match(line, function) && line.find("HEADLIGHT_API") == std::string::npos)
      hidden.push_back(line);
  }
  return hidden;
}

TEST(PublicHeaders, MemberFunctionsAreExported) {
  for (const std::string& header : ReadList("user_headers.txt")) {
    std::ifstream text(HEADLIGHT_SOURCE_DIR "/" + header);
    EXPECT_THAT(HiddenMembersIn(text), testing::IsEmpty()) << header;
  }
  std::istringstream bad(
      "struct A {\n  int a() const;\n  int b() const { return 1; }\n};\nclass HEADLIGHT_API B {\n  int c();\n};\n");
  EXPECT_THAT(HiddenMembersIn(bad), testing::ElementsAre("  int a() const;"));
}

// Checks that headlight.h includes all users' headers of these folders.
TEST(PublicHeaders, UmbrellaIncludesEveryPipeline) {
  const Headers users = ReadList("user_headers.txt");
  const std::string umbrella = "headlight/headlight.h";
  ASSERT_TRUE(users.contains(umbrella));
  const std::vector<std::string> included = ReadIncludes({umbrella})[umbrella];
  for (const std::string& header : users)
    for (const char* folder : {"headlight/pipelines/", "headlight/search/", "headlight/image/decoding/"})
      if (header.starts_with(folder)) {
        EXPECT_THAT(included, testing::Contains(header));
      }
  EXPECT_THAT(included,
              testing::IsSupersetOf({"headlight/inspect/attention_page.h", "headlight/inspect/structure_page.h"}));
}

// Checks that every class with a Load function is for users, and that its header is installed.
TEST(PublicHeaders, EveryPipelineIsInstalled) {
  const Headers users = ReadList("user_headers.txt");
  int pipelines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEADLIGHT_SOURCE_DIR "/headlight/pipelines")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!std::regex_search(text, std::regex("class HEADLIGHT_API \\w+ \\{"))) continue;
    ++pipelines;
    EXPECT_TRUE(users.contains("headlight/pipelines/" + entry.path().filename().string())) << entry.path();
  }
  EXPECT_GT(pipelines, 15);
}

TEST(PublicHeaders, EngineHeadersIncludeOnlyWhatIsInstalled) {
  Headers engine = ReadList("engine_headers.txt"), both = ReadList("user_headers.txt");
  EXPECT_GT(engine.size(), 10U);
  for (const std::string& header : engine) EXPECT_TRUE(both.insert(header).second) << header << " is in both sets";
  EXPECT_THAT(Wrong(ReadIncludes(engine), both, false), testing::IsEmpty());
}

// Returns the declarations of free functions without HEADLIGHT_API, each on one line.
std::vector<std::string> HiddenFunctions(std::istream& header) {
  static const std::regex other(
      "(inline|static|template|class|struct|enum|using|constexpr|extern|friend|namespace|HEADLIGHT_API)\\b.*");
  std::vector<std::string> hidden;
  std::string declaration;
  for (std::string line; std::getline(header, line);) {
    const bool begins = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0])) != 0;
    if (begins && !declaration.empty()) declaration += ' ';
    if (begins || (!declaration.empty() && line.starts_with(' '))) declaration += line.substr(0, line.find("  //"));
    if (!declaration.ends_with(';') && !declaration.ends_with('{')) continue;
    const bool function = declaration.ends_with(';') && declaration.find('(') != std::string::npos;
    if (function && !std::regex_match(declaration, other)) hidden.push_back(declaration);
    declaration.clear();
  }
  return hidden;
}

// Checks that a program can call the functions of the users' headers and of the layers in the shared library.
TEST(PublicHeaders, FunctionsAreExported) {
  Headers headers = ReadList("user_headers.txt");
  for (const std::string& header : ReadList("engine_headers.txt"))
    if (header.starts_with("headlight/nn/") || header == "headlight/pipelines/translation_options.h")
      headers.insert(header);
  for (const std::string& header : headers) {
    std::ifstream text(HEADLIGHT_SOURCE_DIR "/" + header);
    EXPECT_THAT(HiddenFunctions(text), testing::IsEmpty()) << header;
  }
}

TEST(PublicHeaders, PlantedFunctionsAreCaught) {
  std::istringstream header(
      "HEADLIGHT_API int A(int a);\nint B(int a,\n      int b);  // b\ninline int C() { return 1; }\n"
      "template <typename T>\nT D(T t);\nstruct E {\n  int F();\n};\n");
  EXPECT_THAT(HiddenFunctions(header), testing::ElementsAre("int B(int a,      int b);"));
}

TEST(PublicHeaders, PlantedIncludesAreCaught) {
  const Includes includes = {{"headlight/pipelines/a.h", {"headlight/tensor/tensor.h", "headlight/kernels/gemm.h"}}};
  EXPECT_THAT(Wrong(includes, {"headlight/tensor/tensor.h"}, false), testing::SizeIs(1));
  EXPECT_THAT(Wrong(includes, {"headlight/tensor/tensor.h", "headlight/kernels/gemm.h"}, true),
              testing::ElementsAre("headlight/pipelines/a.h includes headlight/kernels/gemm.h"));
  EXPECT_THAT(Wrong(includes, {"headlight/tensor/tensor.h", "headlight/kernels/gemm.h"}, false), testing::IsEmpty());
}

}  // namespace
}  // namespace headlight::public_headers_test

#include "headlight/text/tokenizers/text_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "headlight/base/test_support.h"
#include "headlight/text/characters.h"

namespace headlight::text_pattern_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Matches(const std::string& expression, const std::string& text) {
  std::vector<std::string> matches;
  for (const TextSpan match : TextPattern::Regular(expression, "pattern").Matches(text))
    matches.push_back(
        text.substr(static_cast<std::size_t>(match.begin), static_cast<std::size_t>(match.end - match.begin)));
  return matches;
}

std::string ErrorOfPattern(const std::string& expression, const std::string& text = "") {
  return ErrorOf([&] { Matches(expression, text); });
}

TEST(TextPattern, FindsALiteralText) {
  EXPECT_THAT(TextPattern("aa").Matches("aaaéaa"), ElementsAre(TextSpan{0, 2}, TextSpan{5, 7}));
  EXPECT_THAT(TextPattern(".").Matches("ab"), IsEmpty());
}

TEST(TextPattern, CountsBytes) {
  EXPECT_THAT(TextPattern::Regular("日|b", "p").Matches("aé日b"), ElementsAre(TextSpan{3, 6}, TextSpan{6, 7}));
}

// Checks that empty matches are found between characters, but not directly after a non-empty match.
TEST(TextPattern, FindsEmptyMatches) {
  EXPECT_THAT(TextPattern::Regular("x*", "p").Matches("éxxb"),
              ElementsAre(TextSpan{0, 0}, TextSpan{2, 4}, TextSpan{5, 5}));
  EXPECT_THAT(TextPattern::Regular("(?=b)", "p").Matches("abb"), ElementsAre(TextSpan{1, 1}, TextSpan{2, 2}));
}

// Checks that words include marks and the digits of Latin-1 but no joiners, and that only \n ends a line.
TEST(TextPattern, InterpretsClassesLikeOniguruma) {
  EXPECT_THAT(Matches(R"(\w+)", "e\u0301x_1\u00B2 a\u200Db"), ElementsAre("e\u0301x_1\u00B2", "a", "b"));
  EXPECT_THAT(Matches(R"(\be)", "e\u0301e ee"), ElementsAre("e", "e"));
  EXPECT_THAT(Matches(R"(\Be)", "e\u0301e ee"), ElementsAre("e", "e"));
  EXPECT_THAT(Matches("^.", "a\nb\rc\u2028d"), ElementsAre("a", "b"));
  EXPECT_THAT(Matches(".$", "a\nb\rc"), ElementsAre("a", "c"));
  EXPECT_THAT(Matches(R"([^\s\W])", "a_ -"), ElementsAre("a", "_"));
}

constexpr char32_t kCharacters = 0x3100;  // testing all planes would take seconds

// Returns the characters below kCharacters that a pattern matches.
std::set<char32_t> CharactersOf(const std::string& pattern) {
  static const std::string all = [] {
    std::string text;
    for (char32_t character = 0; character < kCharacters; ++character) AppendUtf8(text, character);
    return text;
  }();
  std::set<char32_t> characters;
  for (const std::string& match : Matches(pattern, all)) characters.insert(DecodeUtf8(match).code);
  return characters;
}

// Returns the characters of these general categories, such as "P" or "Zs".
std::set<char32_t> CharactersOfCategories(const std::vector<std::string>& names) {
  std::string expression;
  for (const std::string& name : names) expression += "\\p{" + name + "}";
  return CharactersOf("[" + expression + "]");
}

// Compares named classes with the tokenizers library 0.23.3, for the characters that Unicode 14 assigns.
TEST(TextPattern, InterpretsNamedClassesLikeOniguruma) {
  const std::set<char32_t> hex = CharactersOf("[0123456789ABCDEFabcdef]");
  ASSERT_EQ(hex.size(), 22U);
  for (const char* same : {R"(\h)", R"([\h])", "[[:xdigit:]]", R"(\p{XDigit})", R"([\p{x-digit}])", R"([^\H])"})
    EXPECT_EQ(CharactersOf(same), hex) << same;
  for (const char* inverse : {R"(\H)", R"([\H])", "[[:^xdigit:]]", R"(\P{XDigit})", R"(\p{^XDigit})", R"([^\h])"})
    EXPECT_EQ(CharactersOf(inverse).size(), kCharacters - 22) << inverse;
  EXPECT_EQ(CharactersOf("[[:punct:]]"), CharactersOfCategories({"P", "S"}));
  EXPECT_EQ(CharactersOf("[^[:^punct:]]"), CharactersOfCategories({"P", "S"}));
  EXPECT_EQ(CharactersOf("[[:punct:]&&[!-/]]").size(), 15U);
  EXPECT_EQ(CharactersOf(R"(\p{Punct})"), CharactersOfCategories({"P"}));
  std::set<char32_t> word = CharactersOf("[[:word:]]");
  for (const char* same : {R"([\w])", R"([\p{Word}])", R"([^\W])", "[^[:^word:]]"})
    EXPECT_EQ(CharactersOf(same), word) << same;
  word.insert({0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE});
  for (const char* more : {R"(\w)", R"(\p{Word})", R"(\P{^word})"}) EXPECT_EQ(CharactersOf(more), word) << more;
  std::set<char32_t> graph = CharactersOfCategories({"L", "M", "N", "P", "S", "Cf", "Co"});
  EXPECT_EQ(CharactersOf("[[:graph:]]"), graph);
  graph.merge(CharactersOfCategories({"Zs"}));
  EXPECT_EQ(CharactersOf("[[:print:]]"), graph);
  EXPECT_EQ(CharactersOf("[[:cntrl:]]"), CharactersOfCategories({"Cc"}));
  EXPECT_EQ(CharactersOf("[[:digit:]]"), CharactersOfCategories({"Nd"}));
  EXPECT_EQ(CharactersOf("[[:ascii:]]").size(), 128U);
  EXPECT_EQ(CharactersOf("[[:blank:]]").size(), 18U);
  EXPECT_EQ(CharactersOf("[[:space:]]"), CharactersOf(R"(\s)"));
  EXPECT_EQ(CharactersOf(R"(\p{^L})").size(), kCharacters - CharactersOfCategories({"L"}).size());
  EXPECT_EQ(CharactersOf(R"(\P{^L})"), CharactersOfCategories({"L"}));
  EXPECT_THAT(CharactersOf("[:alpha:]"), ElementsAre(U':', U'a', U'h', U'l', U'p'));  // not a class without outer []
  EXPECT_THAT(CharactersOf(R"([\v\e]|\v)"), ElementsAre(0x0B, 0x1B));
}

TEST(TextPattern, RefusesWhatIcuInterpretsDifferently) {
  for (const char* part : {R"(\R)", R"(\X)", R"(\Q)", R"(\G)", R"(\p)", R"(\P)", "(?m:", "(?s)", "(?x)", "[]", "[^]"})
    EXPECT_THAT(ErrorOfPattern(std::string("a") + part + "a]"), HasSubstr("is not supported")) << part;
  EXPECT_THAT(ErrorOfPattern("[a--b]"), HasSubstr("has '--'"));
  for (const char* wrong : {"[[:L:]]", "[[:Punct:]]", "[[:alpha]", "[[:", "[[:^:]]"})
    EXPECT_THAT(ErrorOfPattern(wrong), HasSubstr("which is not supported")) << wrong;
  EXPECT_THAT(ErrorOfPattern("a|(?i)b"), HasSubstr("has '(?i)'"));
  EXPECT_EQ(ErrorOfPattern("(?i)a|(?i:b)--(?>c)(?<!d)(?<=e)(?!f)(?=g)(?:h)"), "");
}

TEST(TextPattern, RefusesInvalidExpressions) {
  for (const char* wrong : {"(", "[a", "a{2", "*", R"(\p{Nothing})", R"(\)"})
    EXPECT_THAT(ErrorOfPattern(wrong), HasSubstr("pattern: the regular expression")) << wrong;
  EXPECT_THAT(ErrorOfPattern(std::string(5000, 'a')), HasSubstr("5000 bytes"));
}

TEST(TextPattern, StopsExponentialBacktracking) {
  EXPECT_THAT(ErrorOfPattern("(a+)+b", std::string(64, 'a')), HasSubstr("takes too long for"));
  EXPECT_THAT(ErrorOfPattern("(?:a|b)*c", std::string(1 << 24, 'a')), HasSubstr("takes too long"));
}

}  // namespace
}  // namespace headlight::text_pattern_test

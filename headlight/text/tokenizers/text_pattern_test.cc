#include "headlight/text/tokenizers/text_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"

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

TEST(TextPattern, OfATextFindsIt) {
  EXPECT_THAT(TextPattern("aa").Matches("aaaéaa"), ElementsAre(TextSpan{0, 2}, TextSpan{5, 7}));
  EXPECT_THAT(TextPattern(".").Matches("ab"), IsEmpty());
}

TEST(TextPattern, CountsBytes) {
  EXPECT_THAT(TextPattern::Regular("日|b", "p").Matches("aé日b"), ElementsAre(TextSpan{3, 6}, TextSpan{6, 7}));
}

// Each after a character, and none after a match that is not empty.
TEST(TextPattern, FindsEmptyMatches) {
  EXPECT_THAT(TextPattern::Regular("x*", "p").Matches("éxxb"),
              ElementsAre(TextSpan{0, 0}, TextSpan{2, 4}, TextSpan{5, 5}));
  EXPECT_THAT(TextPattern::Regular("(?=b)", "p").Matches("abb"), ElementsAre(TextSpan{1, 1}, TextSpan{2, 2}));
}

// The marks and the digits of Latin-1 are parts of words, joiners are not; lines end at \n alone.
TEST(TextPattern, ReadsClassesAsOniguruma) {
  EXPECT_THAT(Matches(R"(\w+)", "e\u0301x_1\u00B2 a\u200Db"), ElementsAre("e\u0301x_1\u00B2", "a", "b"));
  EXPECT_THAT(Matches(R"(\be)", "e\u0301e ee"), ElementsAre("e", "e"));
  EXPECT_THAT(Matches(R"(\Be)", "e\u0301e ee"), ElementsAre("e", "e"));
  EXPECT_THAT(Matches("^.", "a\nb\rc\u2028d"), ElementsAre("a", "b"));
  EXPECT_THAT(Matches(".$", "a\nb\rc"), ElementsAre("a", "c"));
  EXPECT_THAT(Matches(R"([^\s\W])", "a_ -"), ElementsAre("a", "_"));
}

TEST(TextPattern, RefusesWhatIcuReadsDifferently) {
  for (const char* part :
       {R"(\h)", R"(\R)", R"(\X)", R"(\v)", R"(\Q)", R"(\G)", "(?m:", "(?s)", "(?x)", R"(\p{^)", "[]", "[^]"})
    EXPECT_THAT(ErrorOfPattern(std::string("a") + part + "a]"), HasSubstr("is not supported")) << part;
  EXPECT_THAT(ErrorOfPattern("[a--b]"), HasSubstr("has '--', which is not supported"));
  EXPECT_THAT(ErrorOfPattern("[[:punct:]]"), HasSubstr("has '[:punct:]', which is not supported"));
  EXPECT_THAT(ErrorOfPattern("a|(?i)b"), HasSubstr("has '(?i)', which is not supported"));
  EXPECT_EQ(ErrorOfPattern("(?i)a|(?i:b)--(?>c)(?<!d)(?<=e)(?!f)(?=g)(?:h)"), "");
}

TEST(TextPattern, RefusesWhatIsNoRegularExpression) {
  for (const char* wrong : {"(", "[a", "a{2", "*", R"(\p{Nothing})", R"(\)"})
    EXPECT_THAT(ErrorOfPattern(wrong), HasSubstr("pattern: the regular expression")) << wrong;
  EXPECT_THAT(ErrorOfPattern(std::string(5000, 'a')), HasSubstr("5000 bytes, 4096 are possible"));
}

TEST(TextPattern, StopsExponentialBacktracking) {
  EXPECT_THAT(ErrorOfPattern("(a+)+b", std::string(64, 'a')), HasSubstr("takes too long for a text of 64 bytes"));
  EXPECT_THAT(ErrorOfPattern("(?:a|b)*c", std::string(1 << 24, 'a')), HasSubstr("takes too long"));
}

}  // namespace
}  // namespace headlight::text_pattern_test

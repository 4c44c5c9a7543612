#include "headlight/text/tokenizers/simple_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/text_pattern.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight::simple_pattern_test {
namespace {

const std::vector<std::string> kSimple = {std::string(kClipWords),
                                          R"(\s+)",
                                          " {2,}",
                                          R"(\s{2,}|[\n\r\t])",
                                          "[0-9]+",
                                          R"([!-/:-@\[-`{-~])",
                                          R"([^\s\p{L}\p{N}]+|\p{N})",
                                          "é+|日本|x[äö]y",
                                          R"([\s]|'re|'r|r\.{3,})",
                                          R"(a|ab|abc+)",
                                          R"([^a-z])",
                                          R"([a\-z-]+)",
                                          R"([^é\n]{2,})",
                                          R"(\p{L}\p{N}\s+)"};

std::string RandomText(Random& random) {
  static constexpr std::array<const char*, 28> parts = {
      "a",    "b",  "c", "'",  "r",  "e", ".", " ", "\n", "\t",     "1",      "[",      "~",
      "-",    "é",  "ä", "日", "本", "x", "y", "z", "½",  "\u00A0", "\u2028", "\u0301", "<|endoftext|>",
      "🙂", "'re"};
  std::string text;
  for (std::uint64_t i = random.Below(64); i > 0; --i) text += parts[random.Below(parts.size())];
  return text;
}

// Compares the results with ICU, which matches the same expression if it is enclosed in (?:...).
TEST(SimplePattern, MatchesLikeIcu) {
  Random random(1);
  for (const std::string& expression : kSimple) {
    ASSERT_TRUE(SimplePattern::Parse(expression).has_value()) << expression;
    ASSERT_FALSE(SimplePattern::Parse("(?:" + expression + ")").has_value()) << expression;
    const TextPattern simple = TextPattern::Regular(expression, "p"),
                      icu = TextPattern::Regular("(?:" + expression + ")", "p");
    std::size_t matches = 0;
    for (int i = 0; i < 400; ++i) {
      const std::string text = RandomText(random);
      EXPECT_EQ(simple.Matches(text), icu.Matches(text)) << expression << " in " << text;
      matches += simple.Matches(text).size();
    }
    EXPECT_GT(matches, 5U) << expression;
  }
}

TEST(SimplePattern, LeavesOtherFormsToIcu) {
  for (const char* other :
       {"",      "a|",     "|a",        "a*",        "a?",       "a+?",     "a++",    "a+b",
        "a{2}",  "a{2,3}", "a{2,}+",    "a{65,}",    "a{0,}",    "a{",      "a{,2}",  "a{99999999999,}",
        ".",     "^a",     "a$",        "(a)",       "(?=a)",    "a)",      "]",      "}",
        R"(\d)", R"(\w)",  R"(\b)",     R"(\p{Lu})", R"(\P{L})", R"(\x41)", R"(\1)",  "\\",
        "[",     "[a",     "[]",        "[]a]",      "[^]",      "[[a]]",   "[a&&b]", "[a--b]",
        "[z-a]", "[a-",    R"([\s-a])", R"([a-\s])", "[a-é]",    R"([\d])", R"([\)",  R"(\é)"})
    EXPECT_FALSE(SimplePattern::Parse(other).has_value()) << other;
}

TEST(SimplePattern, EndsAtInvalidBytes) {
  const SimplePattern pattern = *SimplePattern::Parse("[^a]+");
  EXPECT_EQ(pattern.MatchAt("xy\xFFz", 0), 2U);
  EXPECT_EQ(pattern.MatchAt("\xC3", 0), 0U);
}

// Checks that the time is linear. After a run that is too short, matching restarts at each of its characters.
TEST(SimplePattern, IsLinear) {
  const TextPattern pattern = TextPattern::Regular("x{64,}|a", "p");
  std::string text;
  while (text.size() < 1 << 20) text += std::string(63, 'x') + "b";
  EXPECT_TRUE(pattern.Matches(text).empty());
}

}  // namespace
}  // namespace headlight::simple_pattern_test

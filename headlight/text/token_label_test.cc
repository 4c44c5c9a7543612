#include "headlight/text/token_label.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headlight::token_label_test {
namespace {

TEST(TokenLabel, KeepsReadableCharacters) {
  for (const char* token :
       {"Hund", "▁größer", "مرحبا", "你好", "👩‍👩‍👧", "</script>", "two words", "<s>"}) {
    EXPECT_EQ(TokenLabel(token), token);
  }
}

TEST(TokenLabel, EscapesInvisibleCharacters) {
  EXPECT_EQ(TokenLabel("a\nb"), "a<U+000A>b");
  EXPECT_EQ(TokenLabel(std::string_view("\0", 1)), "<U+0000>");
  EXPECT_EQ(TokenLabel("a\u202Eb"), "a<U+202E>b");  // U+202E would reverse the following characters
  EXPECT_EQ(TokenLabel("\u2028"), "<U+2028>");
  EXPECT_EQ(TokenLabel("\u00AD"), "<U+00AD>");
  EXPECT_EQ(TokenLabel(" "), "<U+0020>");
  EXPECT_EQ(TokenLabel("\u3000\u00A0"), "<U+3000><U+00A0>");
  EXPECT_EQ(TokenLabel("\u200D"), "<U+200D>");
  EXPECT_EQ(TokenLabel(""), "<empty>");
}

TEST(TokenLabel, SpellsBrokenBytes) {
  EXPECT_EQ(TokenLabel("\xE4\xBD"), "<0xE4><0xBD>");            // two of a character's three bytes
  EXPECT_EQ(TokenLabel("a\x80z"), "a<0x80>z");                  // a continuation byte without a first byte
  EXPECT_EQ(TokenLabel("\xED\xA0\x80"), "<0xED><0xA0><0x80>");  // half of a surrogate pair
  EXPECT_EQ(TokenLabel("\xC0\xAF"), "<0xC0><0xAF>");            // an overlong encoding
}

TEST(JoinCharacters, ShowsADividedCharacterInEachToken) {
  using testing::ElementsAre;
  EXPECT_THAT(JoinCharacters({"a", "", "größer"}), ElementsAre("a", "", "größer"));
  EXPECT_THAT(JoinCharacters({"▁\xF0\x9F", "\x99", "\x82!"}), ElementsAre("▁🙂(1/3)", "🙂(2/3)", "🙂(3/3)!"));
  // The second token has the end of a character and the beginning of the next character.
  EXPECT_THAT(JoinCharacters({"\xE4\xBD", "\xA0\xE5", "\xA5\xBD"}),
              ElementsAre("你(1/2)", "你(2/2)好(1/2)", "好(2/2)"));
  EXPECT_THAT(JoinCharacters({"\xE4\xBD", "a", "\x80"}), ElementsAre("<0xE4><0xBD>", "a", "<0x80>"));
}

}  // namespace
}  // namespace headlight::token_label_test

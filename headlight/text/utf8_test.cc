#include "headlight/text/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/error.h"

namespace headlight::utf8_test {
namespace {

TEST(Utf8, EveryCharacterRoundTrips) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    AppendUtf8(text, code);
    const Utf8Character read = DecodeUtf8(text);
    ASSERT_EQ(read.code, code);
    ASSERT_EQ(static_cast<std::size_t>(read.bytes), text.size());
    for (std::size_t cut = 0; cut < text.size(); ++cut) ASSERT_EQ(DecodeUtf8(text.substr(0, cut)).bytes, 0);
  }
}

TEST(Utf8, RefusesMalformedSequences) {
  const char* bad[] = {
      "\x80",
      "\xBF",
      "\xC0\x80",
      "\xC1\xBF",
      "\xC3",
      "\xC3(",
      "\xE0\x80\x80",
      "\xE0\x9F\xBF",
      "\xED\xA0\x80",
      "\xED\xBF\xBF",
      "\xE2\x28\xA1",
      "\xF0\x80\x80\x80",
      "\xF0\x8F\xBF\xBF",
      "\xF4\x90\x80\x80",
      "\xF5\x80\x80\x80",
      "\xF8\x88\x80\x80\x80",
      "\xFE",
      "\xFF",
  };
  for (const std::string text : bad) EXPECT_EQ(DecodeUtf8(text).bytes, 0) << testing::PrintToString(text);
}

TEST(Utf8, NamesTheFirstBadByte) {
  for (std::size_t good = 0; good < 20; ++good) {
    EXPECT_EQ(ValidUtf8(std::string(good, 'a') + "\xFFzzzzzzzzzzzz"), good);
    EXPECT_EQ(ValidUtf8(std::string(good, 'a') + "ä\xC3"), good + 2);
  }
  EXPECT_NO_THROW(CheckUtf8("Übung 日本 🙂", "x"));
  try {
    CheckUtf8("ein gr\xFCner Hund", "corpus.de: line 7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "corpus.de: line 7: byte 6 is not UTF-8");
    EXPECT_EQ(error.cause(), ErrorCause::user);
  }
}

}  // namespace
}  // namespace headlight::utf8_test

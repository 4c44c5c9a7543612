#include "headlight/text/metrics/tokenize_13a.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>

#include "headlight/base/error.h"
#include "headlight/text/characters.h"

namespace headlight {
namespace {

// Returns true for white space as defined by Python's str.isspace: Unicode white space, and four ASCII separators that
// Unicode excludes.
bool IsSpace(char32_t code) { return u_isUWhiteSpace(static_cast<UChar32>(code)) || (code >= 0x1C && code <= 0x1F); }

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }
bool IsNoDigit(char byte) { return !IsDigit(byte); }
bool IsPeriodOrComma(char byte) { return byte == '.' || byte == ','; }
bool IsHyphen(char byte) { return byte == '-'; }

// Returns true for the space, and for ASCII punctuation except apostrophe, comma, hyphen and period.
bool StandsAlone(char byte) {
  return (byte >= ' ' && byte <= '&') || (byte >= '(' && byte <= '+') || byte == '/' || (byte >= ':' && byte <= '@') ||
         (byte >= '[' && byte <= '`') || (byte >= '{' && byte <= '~');
}

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

// Replaces two adjacent bytes that satisfy `first` and `second` with before + first + " " + second + after. Pairs do
// not overlap. Processing bytes is correct, since no byte of a multi-byte character is a digit or a mark.
std::string Separate(std::string_view text, bool (*first)(char), bool (*second)(char), std::string_view before,
                     std::string_view after) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 < text.size() && first(text[at]) && second(text[at + 1])) {
      result.append(before).append({text[at], ' ', text[at + 1]}).append(after);
      ++at;
    } else {
      result.push_back(text[at]);
    }
  }
  return result;
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower;
  icu::StringByteSink<std::string> sink(&lower);
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, {text.data(), static_cast<std::int32_t>(text.size())}, sink, nullptr, status);
  Ensure(U_SUCCESS(status), "lower case: {}", u_errorName(status));
  return lower;
}

std::vector<std::string_view> SplitAtSpaces(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  ForEachCharacter(text, [&](char32_t code, std::size_t at, std::size_t next) {
    if (!IsSpace(code)) return;
    end_word(at);
    begin = next;
  });
  end_word(text.size());
  return words;
}

std::vector<std::string> SeparateMarks(std::string_view text) {
  std::string apart;
  for (const char byte : text) {
    if (StandsAlone(byte)) {
      apart.append({' ', byte, ' '});
    } else {
      apart.push_back(byte);
    }
  }
  apart = Separate(apart, IsNoDigit, IsPeriodOrComma, "", " ");
  apart = Separate(apart, IsPeriodOrComma, IsNoDigit, " ", "");
  apart = Separate(apart, IsDigit, IsHyphen, "", " ");
  const std::vector<std::string_view> words = SplitAtSpaces(apart);
  return {words.begin(), words.end()};
}

std::vector<std::string> Tokenize13a(std::string_view line) {
  std::string text = Replaced(line, "<skipped>", "");
  text = Replaced(text, "&quot;", "\"");
  text = Replaced(text, "&amp;", "&");
  text = Replaced(text, "&lt;", "<");
  text = Replaced(text, "&gt;", ">");

  return SeparateMarks(" " + text + " ");
}

}  // namespace headlight

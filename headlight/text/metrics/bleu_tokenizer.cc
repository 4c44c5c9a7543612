#include "headlight/text/metrics/bleu_tokenizer.h"

#include <fmt/ranges.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/text/characters.h"
#include "headlight/text/metrics/tokenize_13a.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// Removes white space at the end and, if `both` is true, at the start.
std::string_view Stripped(std::string_view line, bool both) {
  const std::vector<std::string_view> words = SplitAtSpaces(line);
  if (words.empty()) return "";
  const char* const begin = both ? words.front().data() : line.data();
  return {begin, static_cast<std::size_t>(words.back().data() + words.back().size() - begin)};
}

std::vector<std::string> BetweenSpaces(std::string_view line) {
  const std::vector<std::string_view> words = SplitAtSpaces(line);
  return {words.begin(), words.end()};
}

std::vector<std::string> EachCharacter(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : SplitAtSpaces(line))
    ForEachCharacter(word, [&](char32_t, std::size_t begin, std::size_t end) {
      words.emplace_back(word.substr(begin, end - begin));
    });
  return words;
}

// Uses sacreBLEU's ranges. Two of these ranges are meant to be above U+FFFF but lack a digit: U+2001 to U+2A6D and
// U+2F81 to U+2FA1. Therefore marks such as quotes and dashes count as Chinese, and characters of extension B do not.
bool IsChinese(char32_t code) {
  static constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
      {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
      {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  return std::ranges::any_of(kRanges, [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::vector<std::string> TokenizeChinese(std::string_view line) {
  const std::string_view stripped = Stripped(line, true);
  std::string apart;
  ForEachCharacter(stripped, [&](char32_t code, std::size_t begin, std::size_t end) {
    const std::string_view character = stripped.substr(begin, end - begin);
    if (IsChinese(code))
      apart.append(" ").append(character).append(" ");
    else
      apart.append(character);
  });
  return SeparateMarks(apart);
}

bool IsAnyNumber(char32_t code) { return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_N_MASK) != 0; }
bool IsNoNumberAtAll(char32_t code) { return !IsAnyNumber(code); }
bool IsAnyMark(char32_t code) { return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_P_MASK) != 0; }
bool IsAnySymbol(char32_t code) { return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_S_MASK) != 0; }

// Inserts a space between two adjacent characters that satisfy `first` and `second`. Pairs do not overlap. Inserts
// another space before or after the pair.
std::u32string SeparatePairs(std::u32string_view text, bool (*first)(char32_t), bool (*second)(char32_t), bool before) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 == text.size() || !first(text[at]) || !second(text[at + 1])) {
      result.push_back(text[at]);
      continue;
    }
    if (before) result.push_back(U' ');
    result.append({text[at], U' ', text[at + 1]});
    if (!before) result.push_back(U' ');
    ++at;
  }
  return result;
}

// Splits a line by the rules of mteval-v14.pl. A mark at the end of a line is not separated if it follows a number.
std::vector<std::string> TokenizeInternational(std::string_view line) {
  std::u32string text;
  ForEachCharacter(Stripped(line, false), [&](char32_t code, std::size_t, std::size_t) { text.push_back(code); });
  text = SeparatePairs(text, IsNoNumberAtAll, IsAnyMark, false);
  text = SeparatePairs(text, IsAnyMark, IsNoNumberAtAll, true);
  std::string apart;
  for (const char32_t code : text) {
    if (IsAnySymbol(code)) apart.push_back(' ');
    AppendUtf8(apart, code);
    if (IsAnySymbol(code)) apart.push_back(' ');
  }
  return BetweenSpaces(apart);
}

}  // namespace

BleuTokenizer MakeBleuTokenizer(std::string_view name) {
  if (name == "13a") return {"13a", Tokenize13a};
  if (name == "zh") return {"zh", TokenizeChinese};
  if (name == "intl") return {"intl", TokenizeInternational};
  if (name == "char") return {"char", EachCharacter};
  if (name == "none") return {"none", BetweenSpaces};
  Fail("the tokenization must be {}, not \"{}\"",
       Alternatives({std::begin(kBleuTokenizations), std::end(kBleuTokenizations)}), name);
}

BleuTokenizer MakeBleuTokenizer(std::string name, std::function<std::vector<std::string>(std::string_view)> pieces) {
  return {std::move(name), [pieces = std::move(pieces)](std::string_view line) {
            return BetweenSpaces(fmt::format("{}", fmt::join(pieces(Stripped(line, false)), " ")));
          }};
}

}  // namespace headlight

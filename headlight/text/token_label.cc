#include "headlight/text/token_label.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// Returns true for characters without a visible shape. Joiners (U+200C, U+200D) are format characters, but are kept,
// since Persian, Hindi and emoji use them.
bool Shapeless(UChar32 character) {
  if (character == 0x200C || character == 0x200D) return false;
  constexpr std::uint32_t kShapeless = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK | U_GC_CN_MASK;
  return (U_GET_GC_MASK(character) & kShapeless) != 0;
}

}  // namespace

std::string TokenLabel(std::string_view token) {
  std::string label;
  bool visible = false;
  const auto length = static_cast<std::int32_t>(token.size());
  for (std::int32_t i = 0; i < length;) {
    const std::int32_t begin = i;
    UChar32 character = 0;
    U8_NEXT(token.data(), i, length, character);
    if (character < 0) {
      for (std::int32_t byte = begin; byte < i; ++byte) {
        label += fmt::format("<0x{:02X}>", static_cast<unsigned char>(token[byte]));
      }
      visible = true;
    } else if (Shapeless(character)) {
      label += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(character));
      visible = true;
    } else {
      label += token.substr(begin, i - begin);
      visible = visible || (u_isgraph(character) && character != 0x200C && character != 0x200D);
    }
  }
  if (visible) return label;
  if (token.empty()) return "<empty>";
  label.clear();  // the token has only spaces or joiners
  for (std::int32_t i = 0; i < length;) {
    UChar32 character = 0;
    U8_NEXT(token.data(), i, length, character);
    label += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(character));
  }
  return label;
}

std::vector<std::string> JoinCharacters(const std::vector<std::string>& tokens) {
  std::string text;
  std::vector<std::size_t> token_of;  // for each byte of the text, the index of its token
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    text += tokens[token];
    token_of.resize(text.size(), token);
  }
  std::vector<std::string> labels(tokens.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const auto bytes = static_cast<std::size_t>(DecodeUtf8(std::string_view(text).substr(begin)).bytes);
    if (bytes == 0) {
      labels[token_of[begin]] += fmt::format("<0x{:02X}>", static_cast<unsigned char>(text[begin]));
      ++begin;
      continue;
    }
    const std::string character = text.substr(begin, bytes);
    std::vector<std::size_t> parts(token_of.begin() + static_cast<std::ptrdiff_t>(begin),
                                   token_of.begin() + static_cast<std::ptrdiff_t>(begin + bytes));
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    for (std::size_t part = 0; part < parts.size(); ++part)
      labels[parts[part]] +=
          parts.size() == 1 ? character : fmt::format("{}({}/{})", character, part + 1, parts.size());
    begin += bytes;
  }
  return labels;
}

}  // namespace headlight

#include "headlight/text/token_label.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>

namespace headlight {
namespace {

// Joiners (U+200C, U+200D) are format characters too, but Persian, Hindi and emoji are spelled with them.
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
  label.clear();  // only spaces or joiners
  for (std::int32_t i = 0; i < length;) {
    UChar32 character = 0;
    U8_NEXT(token.data(), i, length, character);
    label += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(character));
  }
  return label;
}

}  // namespace headlight

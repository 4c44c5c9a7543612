#include "headlight/text/characters.h"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>

namespace headlight {
namespace {

bool IsIn(std::uint32_t categories, char32_t character) {
  return (U_GET_GC_MASK(static_cast<UChar32>(character)) & categories) != 0;
}

CharacterClass LookUpClass(char32_t character) {
  if (IsWhiteSpace(character)) return CharacterClass::space;
  if (IsIn(U_GC_L_MASK, character)) return CharacterClass::letter;
  return IsIn(U_GC_N_MASK, character) ? CharacterClass::number : CharacterClass::other;
}

std::array<CharacterClass, 128> AsciiClasses() {
  std::array<CharacterClass, 128> classes;
  for (char32_t character = 0; character < classes.size(); ++character) classes[character] = LookUpClass(character);
  return classes;
}

}  // namespace

bool IsWhiteSpaceBeyondAscii(char32_t character) { return u_isUWhiteSpace(static_cast<UChar32>(character)) != 0; }
bool IsPunctuation(char32_t character) { return IsIn(U_GC_P_MASK, character); }
bool IsNonspacingMark(char32_t character) { return IsIn(U_GC_MN_MASK, character); }
bool IsMark(char32_t character) { return IsIn(U_GC_M_MASK, character); }
bool IsWordCharacter(char32_t character) {
  return u_isUAlphabetic(static_cast<UChar32>(character)) != 0 ||
         IsIn(U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK, character) || character == 0x200C || character == 0x200D;
}
bool IsOther(char32_t character) { return IsIn(U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK | U_GC_CS_MASK, character); }

CharacterClass ClassOf(char32_t character) {
  static const std::array<CharacterClass, 128> ascii = AsciiClasses();
  return character < ascii.size() ? ascii[character] : LookUpClass(character);
}

}  // namespace headlight

// Regular expressions of a simple form, which the words and white space of most tokenizers are.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headlight {

/// Alternatives, each a row of characters and sets such as \s, \p{L} and [^\s\p{N}], of which the last may be repeated:
/// "'s|[\p{L}]+". They are matched without backtracking, several times as fast as by ICU.
class SimplePattern {
 public:
  /// Nothing if the expression is of another form. Its meaning in Oniguruma and in ICU is the same.
  static std::optional<SimplePattern> Parse(std::string_view expression);

  /// The bytes of the match at text[at], where a character of the UTF-8 begins; 0 if there is none.
  std::size_t MatchAt(std::string_view text, std::size_t at) const;
  bool MayBegin(char byte) const { return first_[static_cast<unsigned char>(byte)] != kNone; }

 private:
  friend class SimplePatternParser;

  struct Set {
    std::bitset<128> ascii;             // with `negated` applied
    std::vector<char32_t> others = {};  // above, as are the next
    bool space = false, letter = false, number = false;
    bool negated = false;

    std::size_t BytesAt(std::string_view text, std::size_t at) const;  // of a member at text[at], 0 if there is none
  };
  struct Step {
    Set set;
    std::int32_t least = 1;
    bool repeats = false;
  };

  static constexpr std::uint16_t kNone = 0xFFFF;

  std::vector<std::vector<Step>> alternatives_;
  std::array<std::uint16_t, 256> first_{};  // by byte: index of the first alternative that may begin with it, or kNone
};

}  // namespace headlight

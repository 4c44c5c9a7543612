// Regular expressions of a simple form, which most tokenizers use for words and white space.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headlight {

/// A list of alternatives, such as "'s|[\p{L}]+". Each alternative is a sequence of characters and sets, such as \s,
/// \p{L} and [^\s\p{N}]. Only the last element of an alternative may be repeated. Matching needs no backtracking and is
/// several times as fast as ICU.
class SimplePattern {
 public:
  /// Returns nothing if the expression is not simple. Simple expressions have the same meaning in Oniguruma and in ICU.
  static std::optional<SimplePattern> Parse(std::string_view expression);

  /// Returns the length in bytes of the match at text[at], the first byte of a UTF-8 character, or 0 if there is none.
  std::size_t MatchAt(std::string_view text, std::size_t at) const;
  bool MayBegin(char byte) const { return first_[static_cast<unsigned char>(byte)] != kNone; }

 private:
  friend class SimplePatternParser;

  struct Set {
    std::bitset<128> ascii;             // the ASCII characters, with `negated` already applied
    std::vector<char32_t> others = {};  // non-ASCII characters; the flags below apply to non-ASCII characters only
    bool space = false, letter = false, number = false;
    bool negated = false;

    // Returns the length of a matching character at text[at], or 0 if there is none.
    std::size_t BytesAt(std::string_view text, std::size_t at) const;
  };
  struct Step {
    Set set;
    std::int32_t least = 1;
    bool repeats = false;
  };

  static constexpr std::uint16_t kNone = 0xFFFF;

  std::vector<std::vector<Step>> alternatives_;
  std::array<std::uint16_t, 256> first_{};  // by byte: index of the first alternative that can begin with it, or kNone
};

}  // namespace headlight

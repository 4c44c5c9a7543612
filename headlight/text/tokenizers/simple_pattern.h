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

/// Alternatives, each a sequence of characters and sets such as \s, \p{L} and [^\s\p{N}], of which the last may be
/// repeated: "'s|[\p{L}]+". Matching needs no backtracking and is several times as fast as with ICU.
class SimplePattern {
 public:
  /// Empty if the expression has another form. Simple expressions mean the same in Oniguruma and in ICU.
  static std::optional<SimplePattern> Parse(std::string_view expression);

  /// The length in bytes of the match that begins at text[at], the beginning of a UTF-8 character; 0 if there is none.
  std::size_t MatchAt(std::string_view text, std::size_t at) const;
  bool MayBegin(char byte) const { return first_[static_cast<unsigned char>(byte)] != kNone; }

 private:
  friend class SimplePatternParser;

  struct Set {
    std::bitset<128> ascii;             // after `negated` was applied
    std::vector<char32_t> others = {};  // non-ASCII characters; so are those of the flags below
    bool space = false, letter = false, number = false;
    bool negated = false;

    std::size_t BytesAt(std::string_view text,
                        std::size_t at) const;  // length of a member at text[at], 0 if there is none
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

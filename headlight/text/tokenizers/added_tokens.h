// Added tokens, which are matched in a text before it is segmented: special tokens such as [MASK], and user-defined
// tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/text_span.h"

namespace headlight {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool special = false;                 ///< if true, Decode skips the token
  bool normalized = false;              ///< if true, matched in the normalized text, otherwise in the raw text
  bool single_word = false;             ///< if true, matched only between word boundaries
  bool lstrip = false, rstrip = false;  ///< if true, a match includes the white space on its left or right
};

class AddedTokens {
 public:
  AddedTokens() = default;
  /// The content of a token must not be empty. Among tokens with equal content, the first one is used.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// A match, or the text between two matches (`id` is -1).
  struct Part {
    std::int32_t id;
    TextSpan span;
  };
  /// Splits the text into non-empty parts by leftmost longest matches. Without `read_special`, special tokens are
  /// treated as text. As in the tokenizers library, a match may begin in the white space that the previous match
  /// includes.
  std::vector<Part> Split(std::string_view text, bool read_special) const;

 private:
  const AddedToken* Find(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;  // longest first
  std::array<bool, 256> begins_{};  // true for each byte with which a token begins
};

}  // namespace headlight

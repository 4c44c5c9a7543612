// Added tokens, which are matched in a text before it is segmented: special ones, such as [MASK], and a user's own.
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
  bool special = false;                 // skipped by Decode
  bool normalized = false;              // matched in the normalized text, else in the raw text
  bool single_word = false;             // matched between word boundaries only
  bool lstrip = false, rstrip = false;  // matches include the white space on that side
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // The contents must not be empty; of two equal ones the first counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // A match, or the text between two matches (id -1).
  struct Part {
    std::int32_t id;
    TextSpan span;
  };
  // The parts of the text, none empty: leftmost matches, the longest at each place. Special tokens are text unless
  // `read_special`. As in the tokenizers library a match may begin in the white space that the one before includes.
  std::vector<Part> Split(std::string_view text, bool read_special) const;

 private:
  const AddedToken* Find(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;  // the longest first
  std::array<bool, 256> begins_{};  // true: a token begins with this byte
};

}  // namespace headlight

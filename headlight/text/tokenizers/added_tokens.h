// Tokens that are looked for in a text before it is cut: special ones, such as [MASK], and those that somebody added.
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
  bool special = false;                 // not written by Decode
  bool normalized = false;              // looked for in the normalized text, else in the text itself
  bool single_word = false;             // not within a word
  bool lstrip = false, rstrip = false;  // takes the white space on that side with it
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Looks for the contents, none empty; of two alike the first counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // A part of the text: a token, or what lies between tokens (id -1).
  struct Part {
    std::int32_t id;
    TextSpan span;
  };
  // The parts of the text, none empty: from the left, at each place the longest token. Special tokens are text
  // unless `read_special`.
  std::vector<Part> Split(std::string_view text, bool read_special) const;

 private:
  const AddedToken* Find(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;  // the longest first
  std::array<bool, 256> begins_{};  // whether one of them begins with the byte
};

}  // namespace headlight

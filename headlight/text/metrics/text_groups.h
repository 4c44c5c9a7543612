// Groups of the texts of a test set: those that are like a training text, and those that are foreign to it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct TextGroup {
  std::string by;                  // "words", "rarest word" or "likeness"
  std::string range;               // "10 to 13"
  std::vector<std::size_t> texts;  // their numbers from 0
};

// Divides the texts three times, each time into up to three groups, of which none is empty:
// - "words": by how many words they have, into thirds;
// - "rarest word": by how often the word of theirs that `known` has least occurs in it: never, up to 9 times, or more;
// - "likeness": by the cosine to the most similar text of `known`, into thirds. Words count as often as they occur,
//   times ln(known texts / those that have the word); words that over a tenth of the known texts have do not count
//   (tf-idf: Sparck Jones, "A statistical interpretation of term specificity", 1972). Foreign topics are in the lowest.
// Words are those of tokenization 13a with a letter or a digit, in lower case. Equal numbers are in one group. Throws
// Error where `known` is empty. The texts are UTF-8.
HEADLIGHT_API std::vector<TextGroup> GroupTexts(std::span<const std::string> texts, std::span<const std::string> known);

}  // namespace headlight

// Groups of a test set's texts by length and by similarity to the training texts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct TextGroup {
  std::string by;                  ///< "words", "rarest word" or "likeness"
  std::string range;               ///< such as "10 to 13"
  std::vector<std::size_t> texts;  ///< indices, from 0
};

/// Divides the texts in three ways, each into up to three non-empty groups:
/// - "words": by the number of words, into thirds;
/// - "rarest word": by the frequency in `known` of the text's rarest word: 0, 1 to 9, or more;
/// - "likeness": by the cosine similarity to the most similar text of `known`, into thirds. The similarity uses tf-idf
///   (Sparck Jones, "A statistical interpretation of term specificity", 1972): a word's weight is its count times
///   ln(known texts / known texts with the word). Words in over a tenth of the known texts have no weight. Texts about
///   other topics have the lowest similarity.
/// Words are the tokens of tokenization 13a that contain a letter or a digit, in lower case. Equal values are in the
/// same group. The texts must be UTF-8. Throws Error if `known` is empty.
HEADLIGHT_API std::vector<TextGroup> GroupTexts(std::span<const std::string> texts, std::span<const std::string> known);

}  // namespace headlight

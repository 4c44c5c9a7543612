// ROUGE (Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004), with the same values as the rouge-score
// package 0.1.2.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;  ///< 0 to 1
};

struct Rouge {
  RougeScore rouge1, rouge2;  ///< scores of words and of word pairs
  RougeScore rouge_l;         ///< score of the longest common subsequence
  RougeScore rouge_lsum;      ///< score of the longest common subsequences of sentences; each line is a sentence
};

/// Computes the scores of a text against its reference. Words are runs of ASCII letters and digits. Text in other
/// scripts has no words. With `stem`, words of more than three letters are compared by their stems (PorterStem), as
/// with use_stemmer=True.
HEADLIGHT_API Rouge RougeOf(std::string_view text, std::string_view reference, bool stem);

/// Returns the mean scores over texts and their references. Throws Error if the sizes differ. At least one text is
/// required.
HEADLIGHT_API Rouge MeanRouge(std::span<const std::string> texts, std::span<const std::string> references, bool stem);

}  // namespace headlight

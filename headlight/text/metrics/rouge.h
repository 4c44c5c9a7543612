// ROUGE (Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004), with the same values as the rouge-score
// package 0.1.2.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;  // 0 to 1
};

struct Rouge {
  RougeScore rouge1, rouge2;  // of words and of pairs of words
  RougeScore rouge_l;         // of the longest common subsequence
  RougeScore rouge_lsum;      // of the union over sentences, one per line
};

/// The scores of a text against its reference. Words are runs of the letters a to z, of either case, and digits; other
/// scripts have no words. `stem`: compares words of more than three letters by their stems (PorterStem), like
/// use_stemmer=True.
HEADLIGHT_API Rouge RougeOf(std::string_view text, std::string_view reference, bool stem);

/// The means over texts and their references, of which there must be at least one. Throws Error if the sizes differ.
HEADLIGHT_API Rouge MeanRouge(std::span<const std::string> texts, std::span<const std::string> references, bool stem);

}  // namespace headlight

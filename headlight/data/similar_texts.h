// Pairs of texts that have the same meaning or belong together, such as a question and a passage with its answer.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct SimilarTexts {
  std::string text, match;
  std::vector<std::string> negatives;  ///< hard negatives: similar texts that do not match the anchor
  std::string location;                ///< file and line, used as prefix of error messages
};

/// Reads pairs from records or lines. Records (HasRecords) have "anchor" (or "query", "text"), "positive" (or "match")
/// and optionally "negative" or "negatives", a text or an array of texts. A line has a text, its match and optionally
/// negatives, separated by tabs. Empty lines are skipped. Throws the errors of Records and LineReader, and Error naming
/// the line for other content and for an empty text.
HEADLIGHT_API std::vector<SimilarTexts> ReadSimilarTexts(const std::vector<std::string>& paths,
                                                         const TextShare& share = {});

}  // namespace headlight

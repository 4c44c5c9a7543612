// Pairs of texts that mean the same or belong together, such as a question and a passage with its answer.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct SimilarTexts {
  std::string text, match;
  std::vector<std::string> negatives;  // texts that are alike and do not belong to it (hard negatives)
  std::string place;                   // file and line, to begin an error with
};

// Of records (HasRecords) of "anchor" (or "query", "text"), "positive" (or "match") and perhaps "negative" or
// "negatives", one or an array of them; or a text, its match and perhaps negatives a line, with tabs between them;
// empty lines are none. Throws Error as Records and LineReader do, naming the line for what is not that, and for a text
// that is empty.
HEADLIGHT_API std::vector<SimilarTexts> ReadSimilarTexts(const std::vector<std::string>& paths,
                                                         const TextShare& share = {});

}  // namespace headlight

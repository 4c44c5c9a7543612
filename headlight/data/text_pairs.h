// Pairs of texts for training: the input and its target.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct TextPair {
  std::string source, target;
  std::string place;  // file and line, to begin an error with
};

// Of records (HasRecords) of "source" and "target", or a source, a tab and its target a line; empty lines are none.
// Throws Error as Records and LineReader do, naming the line for what is not that, and for a text that is empty.
HEADLIGHT_API std::vector<TextPair> ReadTextPairs(const std::vector<std::string>& paths, const TextShare& share = {});

}  // namespace headlight

// How a folder of sentence-transformers makes one vector of a text: modules.json and what it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/export.h"

namespace headlight {

// Of sentence-transformers. With n tokens: the mean; the sum over the root of n; the mean weighted by the places
// 1, ..., n; the first token's state; the last one's; the largest number of each column.
enum class Pooling { mean, mean_sqrt, weighted_mean, first, last, most };

// The mean of all tokens, where the folder is plain.
struct SentenceModules {
  bool given = false;  // the folder has a modules.json
  Pooling pooling = Pooling::mean;
  bool pools_prompt = true;
  bool normalize = false;
  std::optional<std::int64_t> longest;
  std::string prompt;  // before every text
};

// Throws Error naming the file and what is wrong with it or not supported.
HEADLIGHT_API SentenceModules ReadSentenceModules(const std::string& folder);

HEADLIGHT_API const char* Name(Pooling pooling);

}  // namespace headlight

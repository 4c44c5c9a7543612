// Learning from sentence pairs which words translate which.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/shortlist.h"

namespace headlight {

struct ShortlistOptions {
  std::int32_t frequent = 100;  // the commonest target words, for every sentence
  std::int32_t per_word = 100;  // the likeliest translations of each source word, at most
};

struct EncodedPair {
  std::vector<std::int32_t> source, target;  // ids, without ends
};

struct LearnedShortlist {
  Shortlist shortlist;
  std::int64_t pairs = 0;  // that it was learned from
  bool all = true;         // false where there were more pairs than the memory is for
};

// Reads pairs from `next` until it says that there are no more, or until they hold 2^25 different pairs of words or
// 2^26 words, which takes less than a gigabyte, leaving out sentences of more than 256 words; learns how likely each
// source word is translated by each target word, as IBM Model 1 (Brown et al., "The Mathematics of Statistical Machine
// Translation", 1993, section 4.1) in five rounds. Throws Error where there is no pair and for impossible options.
HEADLIGHT_API LearnedShortlist LearnShortlist(const std::function<bool(EncodedPair&)>& next,
                                              std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                              const ShortlistOptions& options);

}  // namespace headlight

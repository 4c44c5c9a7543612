// Estimates which target words translate each source word, from sentence pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/shortlist.h"

namespace headlight {

struct ShortlistOptions {
  std::int32_t frequent = 100;  // number of most frequent target words, which are allowed for every sentence
  std::int32_t per_word = 100;  // maximum number of translations per source word
};

struct EncodedPair {
  std::vector<std::int32_t> source, target;  // token ids without start and end tokens
};

struct LearnedShortlist {
  Shortlist shortlist;
  std::int64_t pairs = 0;  // number of sentence pairs that were used
  bool all = true;         // false if there were more pairs than the memory limit allows
};

/// Estimates translation probabilities with five iterations of IBM Model 1 (Brown et al., "The Mathematics of
/// Statistical Machine Translation", 1993, section 4.1). Reads pairs from `next` until it returns false, or until there
/// are 2^25 distinct word pairs or 2^26 words. These limits keep the memory below a gigabyte. Sentences of more than
/// 256 words are skipped. Throws Error if there is no pair or an option is out of range.
HEADLIGHT_API LearnedShortlist LearnShortlist(const std::function<bool(EncodedPair&)>& next,
                                              std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                              const ShortlistOptions& options);

}  // namespace headlight

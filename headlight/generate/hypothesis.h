// What decoding and generating end with, and when.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/export.h"

namespace headlight {

// What chose one token of a translation: the weights of the last layer's cross-attention, summed over its heads, by
// token of the source. Beams share the rows of what they have in common.
using AttentionRow = std::shared_ptr<const std::vector<float>>;

struct Hypothesis {
  std::vector<std::int32_t> ids;             // without start and end
  double log_probability = 0;                // of the ids and the end
  double score = 0;                          // log_probability / (number of ids and end, without a prefix)^alpha
  bool ended = true;                         // false where the length limit cut it, or no word was possible
  std::vector<AttentionRow> attention = {};  // of each id and the end, where DecodingOptions asks for it
};

// When a text with beam_size finished hypotheses is done.
enum class Stopping {
  no_better,  // when none that is running would score better than the worst of them if it ended now
  at_once,
  never,  // when none that is running can score better: with a positive length penalty, at the greatest length
};

// What a cancelled call ends with.
class HEADLIGHT_API Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace headlight

// The results of decoding and generation, and the conditions to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/cancelled.h"

namespace headlight {

// The last layer's cross-attention weights in the step that chose a token, summed over the heads: [source tokens].
// Beams share the rows of their common tokens.
using AttentionRow = std::shared_ptr<const std::vector<float>>;

struct Hypothesis {
  std::vector<std::int32_t> ids;             // without start and end, with the target's prefix
  double log_probability = 0;                // of the chosen ids and the end
  double score = 0;                          // log_probability / (number of chosen ids and end)^alpha
  bool ended = true;                         // false where the length limit cut or ended it, or no token was allowed
  std::vector<AttentionRow> attention = {};  // of each id and the end, where DecodingOptions asks for it
  // The log-probability of each id that was not given and of the end, where DecodingOptions asks for it.
  std::vector<float> token_scores = {};
  std::int32_t end = -1;  // the token that ended it; -1: none
};

// When a text with beam_size finished hypotheses stops.
enum class Stopping {
  no_better,  // when none that is running would score better than the worst of them if it ended now
  at_once,
  never,  // when none that is running can score better: with a positive length penalty, at the greatest length
};

}  // namespace headlight

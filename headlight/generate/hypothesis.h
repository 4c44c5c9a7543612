// Results of decoding and generation, and stopping conditions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/cancelled.h"

namespace headlight {

/// The last layer's cross-attention weights in the step that chose a token, summed over the heads: [source tokens].
/// Beams share the rows of their common tokens.
using AttentionRow = std::shared_ptr<const std::vector<float>>;

struct Hypothesis {
  std::vector<std::int32_t> ids;  ///< without start and end, but with the target prefix
  double log_probability = 0;     ///< log-probability of the chosen ids and the end
  double score = 0;               ///< log_probability / (number of chosen ids and end)^alpha
  bool ended = true;              ///< false if the length limit truncated or ended the text, or if no token was allowed
  std::vector<AttentionRow> attention = {};  ///< attention of each id and the end, if DecodingOptions requests it
  /// The log-probability of each chosen id and of the end, if DecodingOptions requests it.
  std::vector<float> token_scores = {};
  std::int32_t end = -1;  ///< the end token, or -1 if there is none
};

/// Determines when a search with beam_size finished hypotheses stops.
enum class Stopping {
  no_better,  ///< stops if the best running beam, if it ended now, would not score above the worst hypothesis
  at_once,
  never,  ///< like no_better, but scores the beam at max_length if the length penalty is positive
};

}  // namespace headlight

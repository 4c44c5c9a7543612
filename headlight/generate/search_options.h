// How a text is searched for: greedy choice, sampling or beam search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/generate/logits_processors.h"

namespace headlight {

/// Returns whether a text ends with the last of `ids`, which are its prompt and its new tokens. Any thread may call it.
using StopCondition = std::function<bool(std::span<const std::int32_t> ids)>;

struct SearchOptions {
  std::int32_t beam_size = 1;  ///< 1: greedy choice or sampling
  std::int32_t n_best = 1;     ///< at most beam_size
  double length_penalty = 1;   ///< alpha: a finished text scores log-probability / length^alpha
  Stopping stopping = Stopping::no_better;
  bool sample = false;  ///< with a beam_size of 1
  SamplingOptions sampling = {};
  LogitsProcessors processors = {};
  std::vector<std::int32_t> end_ids = {};        ///< each ends a text
  bool writes_padding = false;                   ///< whether the model's padding is a token as any other
  std::optional<std::int32_t> first_token = {};  ///< the chosen first token, with probability 1
  /// The chosen last token that the length allows, with probability 1. It may be one of end_ids.
  std::optional<std::int32_t> last_token = {};
  std::shared_ptr<const StopCondition> stops = {};
  /// Classifier-free guidance (Ho and Salimans, 2022, eq. 6): the logits are u + guidance * (c - u), c those after the
  /// prompt and u those after another that lacks what is to be followed (DecodingRequest::unguided). 1: without it.
  /// With beams a text's score is the sum of u + guidance * (c - u), of log-probabilities that are not normalised
  /// again.
  double guidance = 1;
  bool attention = false;     ///< whether to keep Hypothesis::attention
  bool token_scores = false;  ///< whether to keep Hypothesis::token_scores

  bool operator==(const SearchOptions&) const = default;
};

/// True if the scores of beams are those of guidance.
inline bool GuidesBeams(const SearchOptions& options) { return options.guidance != 1 && options.beam_size > 1; }

/// Throws Error for the first that is out of range. Every id must be below `vocabulary`.
HEADLIGHT_API void CheckSearch(const SearchOptions& options, std::int64_t vocabulary);

}  // namespace headlight

// Options of a text's search: greedy search, sampling or beam search.
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

/// Returns true if a text ends with the last of `ids`, which are its prompt and new tokens. May be called by any
/// thread.
using StopCondition = std::function<bool(std::span<const std::int32_t> ids)>;

struct SearchOptions {
  std::int32_t beam_size = 1;  ///< if 1, greedy search or sampling
  std::int32_t n_best = 1;     ///< at most beam_size; several samples need a request each, with other streams
  double length_penalty = 1;   ///< alpha: a finished text scores log-probability / length^alpha
  Stopping stopping = Stopping::no_better;
  bool sample = false;  ///< requires a beam_size of 1
  SamplingOptions sampling = {};
  LogitsProcessors processors = {};
  std::vector<std::int32_t> end_ids = {};        ///< tokens that end a text
  bool generates_padding = false;                ///< if true, the padding token may be generated
  std::optional<std::int32_t> first_token = {};  ///< if set, the first chosen token is this token, with probability 1
  /// If set, the token at the maximum length is this token, with probability 1. May be one of end_ids.
  std::optional<std::int32_t> last_token = {};
  std::shared_ptr<const StopCondition> stops = {};
  /// The scale of classifier-free guidance (Ho and Salimans, 2022, eq. 6). 1: no guidance. The logits are
  ///   u + guidance * (c - u),
  /// with the logits c after the prompt and u after the unconditional prompt (DecodingRequest::unguided). With beams,
  /// the formula is applied to log-probabilities. A text's score is the sum of the results, which are not normalized.
  double guidance = 1;
  bool attention = false;     ///< if true, Hypothesis::attention is kept
  bool token_scores = false;  ///< if true, Hypothesis::token_scores is kept

  bool operator==(const SearchOptions&) const = default;
};

/// Returns true if beams are scored with guidance.
inline bool GuidesBeams(const SearchOptions& options) { return options.guidance != 1 && options.beam_size > 1; }

/// Throws Error naming the first option that is out of range. Every id must be below `vocabulary`.
HEADLIGHT_API void CheckSearch(const SearchOptions& options, std::int64_t vocabulary);

}  // namespace headlight

// Beam search for any model. The next beams are computed from the most probable next tokens of each beam. Greedy search
// and sampling have one beam.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/generate/search_options.h"
#include "headlight/kernels/top_k.h"

namespace headlight {

/// Returns the score of a text with `length` chosen tokens, log_probability / length^length_penalty.
double ScoreOf(const SearchOptions& options, double log_probability, std::int32_t length);
/// Returns the number of candidates to keep per beam. Enough candidates remain even if all end tokens are among the
/// candidates.
std::int64_t CandidatesOf(const SearchOptions& options);

struct Beam {
  std::vector<std::int32_t> ids;  ///< the tokens generated so far
  double log_probability = 0;
  std::vector<AttentionRow> attention = {};  ///< attention of each id and, last, of the current step, if requested
  std::vector<float> token_scores = {};      ///< log-probability of each id, if requested
};

/// A text that is being generated.
struct BeamSearch {
  std::span<const std::int32_t> prompt_ids = {};  ///< the prompt for SearchOptions::stops
  std::int32_t max_length = 0;       ///< maximum number of chosen tokens, including the end but not a given prefix
  std::vector<Beam> beams = {{}};    ///< running beams, best first
  std::vector<Hypothesis> finished;  ///< at most beam_size hypotheses, best first
  bool done = false;
};

/// Extends every running beam by its `length`-th chosen token. The rows of the beams in `likeliest` and `banned` start
/// at `first`. `banned` has the tokens that are not allowed, and may be empty. Candidates that end or stop become
/// finished hypotheses, and the best of the other candidates become the new beams. In ties, the earlier beam has
/// priority, then the smaller id. Returns the index of the old beam that each new beam extends.
std::vector<std::size_t> Advance(BeamSearch& search, const kernels::TopLogits<float>& likeliest, std::int64_t first,
                                 std::int32_t length, const SearchOptions& options,
                                 std::span<const std::vector<std::int32_t>> banned = {});

}  // namespace headlight

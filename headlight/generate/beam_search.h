// Beam search for any model: computes the next beams from the most probable next tokens of each beam. Greedy search and
// sampling have one beam.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/generate/search_options.h"
#include "headlight/kernels/top_k.h"

namespace headlight {

/// The score of a text with `length` chosen tokens: log_probability / length^length_penalty.
double ScoreOf(const SearchOptions& options, double log_probability, std::int32_t length);
/// The number of candidates to keep per beam, so that enough remain even if all end tokens are among them.
std::int64_t CandidatesOf(const SearchOptions& options);

struct Beam {
  std::vector<std::int32_t> ids;  ///< generated so far
  double log_probability = 0;
  std::vector<AttentionRow> attention = {};  ///< for each id and the current step, if requested
  std::vector<float> token_scores = {};      ///< if requested
};

/// A text that is being generated.
struct BeamSearch {
  std::span<const std::int32_t> prompt_ids = {};  ///< for SearchOptions::stops
  std::int32_t max_length = 0;                    ///< tokens to choose, the end included; a given prefix does not count
  std::vector<Beam> beams = {{}};                 ///< running, best first
  std::vector<Hypothesis> finished;               ///< best first, at most beam_size
  bool done = false;
};

/// Extends every running beam by its `length`-th chosen token. The beams' rows of `likeliest` begin at `first`; so do
/// those of `banned` (tokens that are not allowed) unless it is empty. Candidates that end or stop become finished
/// hypotheses; the best of the others become the new beams. Ties are won by the earlier beam, then the smaller id.
/// Returns the index of the old beam that each new one extends.
std::vector<std::size_t> Advance(BeamSearch& search, const kernels::TopLogits<float>& likeliest, std::int64_t first,
                                 std::int32_t length, const SearchOptions& options,
                                 std::span<const std::vector<std::int32_t>> banned = {});

}  // namespace headlight

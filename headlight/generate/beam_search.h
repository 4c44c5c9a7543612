// Beam search for any model: from the likeliest next tokens of each beam to the next beams. Greedy choice and sampling
// are a beam of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/generate/search_options.h"
#include "headlight/kernels/top_k.h"

namespace headlight {

// The score of a text with `length` chosen tokens: log_probability / length^length_penalty.
double ScoreOf(const SearchOptions& options, double log_probability, std::int32_t length);
// How many of the likeliest tokens after each beam are needed, so that enough remain where all ends are among them.
std::int64_t CandidatesOf(const SearchOptions& options);

struct Beam {
  std::vector<std::int32_t> ids;  // written so far
  double log_probability = 0;
  std::vector<AttentionRow> attention = {};  // of the ids and of the step that is being decided, if requested
  std::vector<float> token_scores = {};      // if requested
};

// A text that is being written.
struct BeamSearch {
  std::span<const std::int32_t> prompt_ids = {};  // for SearchOptions::stops
  std::int32_t max_length = 0;       // tokens to choose, the end included; a prefix that was given does not count
  std::vector<Beam> beams = {{}};    // running, best first
  std::vector<Hypothesis> finished;  // best first, at most beam_size
  bool done = false;
};

// Extends every running beam by its `length`-th chosen token. The beams' rows of `likeliest`, and of `banned` (tokens
// that are not allowed) if it is not empty, begin at `first`. Candidates that end or stop become finished
// hypotheses, the best of the others the new beams. Ties go to the earlier beam and the smaller id. Returns which of
// the old beams each new one continues.
std::vector<std::size_t> Advance(BeamSearch& search, const kernels::TopLogits<float>& likeliest, std::int64_t first,
                                 std::int32_t length, const SearchOptions& options,
                                 std::span<const std::vector<std::int32_t>> banned = {});

}  // namespace headlight

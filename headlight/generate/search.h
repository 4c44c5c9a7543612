// A text of a running batch, with its request, its beams and their cached tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/decoding_request.h"

namespace headlight {

/// The cached text of a beam. Cached tokens are the first `read` tokens of the prompt (conditional or unconditional)
/// followed by the beam.
struct CachedBeam {
  std::int32_t text = -1;  ///< index in the cache, or -1
  std::int32_t read = 0;
};

/// A text of a DecodingBatch.
struct Search : BeamSearch {
  std::int64_t id = 0;
  DecodingRequest request;
  Random random{0};
  std::vector<std::array<CachedBeam, 2>> cached = {{}};  ///< for each beam: with the prompt, with `unguided`
  std::int32_t length = 1;                               ///< length of the text, including its next token
  bool joined = false;                                   ///< if true, the search has texts in the cache
  /// If true, a state has NaN, which attention may spread to earlier tokens. Other texts do not copy its cache.
  bool damaged = false;
  bool cut = false;                               ///< if true, the length limit ended a beam that would continue
  std::size_t list = 0;                           ///< index of the text's shortlist
  std::array<std::int32_t, 2> memory = {-1, -1};  ///< index of each prompt's memory in the cache
  Tensor no_source;                               ///< encoder states for the unconditional prompt

  const SearchOptions& options() const { return *request.options; }
  std::size_t prompts() const { return options().guidance == 1 ? 1 : 2; }
  const std::vector<std::int32_t>& prompt(std::size_t which) const {
    return which == 0 ? request.prompt : request.unguided;
  }
  std::int32_t tokens(std::size_t beam, std::size_t which) const {
    return static_cast<std::int32_t>(prompt(which).size() + beams[beam].ids.size());
  }
  std::int32_t TokenAt(std::size_t beam, std::size_t which, std::int32_t position) const {
    const auto at = static_cast<std::size_t>(position);
    return at < prompt(which).size() ? prompt(which)[at] : beams[beam].ids[at - prompt(which).size()];
  }
  std::int32_t unread(std::size_t beam, std::size_t which) const {
    return tokens(beam, which) - cached[beam][which].read;
  }
  std::int64_t unread() const {
    std::int64_t sum = 0;
    for (std::size_t beam = 0; beam < beams.size(); ++beam)
      for (std::size_t which = 0; which < prompts(); ++which) sum += unread(beam, which);
    return sum;
  }
  /// Returns the number of tokens of all beams. If a beam shares a prefix with the first beam, the prefix is counted
  /// only once.
  std::int64_t distinct() const {
    std::int64_t sum = 0;
    for (std::size_t which = 0; which < prompts(); ++which)
      for (std::size_t beam = 0; beam < beams.size(); ++beam) {
        const std::int32_t all = tokens(beam, which);
        std::int32_t common = 0;
        while (beam > 0 && common < all && TokenAt(beam, which, common) == TokenAt(0, which, common)) ++common;
        sum += all - common;
      }
    return sum;
  }
  /// Returns true if the next token may be an end token.
  bool MayEnd() const { return length > request.min_new_tokens || (options().last_token && length == max_length); }
  /// Returns the index of the last token that is not forced.
  std::int32_t LastUnforced() const { return max_length - (options().last_token ? 1 : 0); }
  /// Returns true if, for every beam, all tokens except one are in the cache.
  bool IsRunning() const {
    for (std::size_t beam = 0; beam < beams.size(); ++beam)
      for (std::size_t which = 0; which < prompts(); ++which)
        if (unread(beam, which) != 1) return false;
    return true;
  }
  /// Returns true if tokens are sampled, or if they are not chosen by the model's own scores.
  bool ChangesScores() const {
    LogitsProcessors other = options().processors;
    other.no_repeat_ngram_size = 0;  // does not change the logits
    return options().sample || other.any() || GuidesBeams(options());
  }
};

/// A search with all tokens in the cache, and each beam's row in the output of the forward pass. Without guidance,
/// `unguided` is empty.
struct Ready {
  Search* search = nullptr;
  std::vector<std::int32_t> rows, unguided;
};

/// The tokens of a beam that a pass processes.
struct Part {
  Search* search = nullptr;
  std::size_t beam = 0, which = 0;
  std::int32_t count = 0;
};
using Pass = std::vector<Part>;

}  // namespace headlight

// A text of a running batch: its request, its beams and what of them is in the cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/decoding_request.h"

namespace headlight {

// The first `read` tokens of a beam, behind the prompt or the unguided one, are in the cache.
struct CachedBeam {
  std::int32_t text = -1;  // of the cache
  std::int32_t read = 0;
};

// A text of a DecodingBatch.
struct Search : BeamSearch {
  std::int64_t id = 0;
  DecodingRequest request;
  Random random{0};
  std::vector<std::array<CachedBeam, 2>> cached = {{}};  // of each beam; the second is that of the unguided prompt
  std::int32_t length = 1;                               // of the text with its next token
  bool joined = false;                                   // has texts in the cache
  bool damaged = false;  // has NaN, which attention in its passes may spread to earlier tokens: none are shared
  bool cut = false;      // the length limit forced an end on a beam that would go on
  std::size_t list = 0;  // of its shortlist
  std::array<std::int32_t, 2> memory = {-1, -1};  // of the cache, for each prompt
  Tensor no_source;                               // the states that the unguided prompt looks at

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
  // The tokens of all beams, where those that a beam begins with as the first does count once.
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
  // True if the next token may be an end.
  bool MayEnd() const { return length > request.min_new_tokens || (options().last_token && length == max_length); }
  // The last token that is not forced.
  std::int32_t LastUnforced() const { return max_length - (options().last_token ? 1 : 0); }
  // True if all but one token of every beam is in the cache.
  bool IsRunning() const {
    for (std::size_t beam = 0; beam < beams.size(); ++beam)
      for (std::size_t which = 0; which < prompts(); ++which)
        if (unread(beam, which) != 1) return false;
    return true;
  }
  // True if the choice is among other scores than the model's own.
  bool ChangesScores() const {
    LogitsProcessors other = options().processors;
    other.no_repeat_ngram_size = 0;  // applied without the logits
    return options().sample || other.any() || GuidesBeams(options());
  }
};

// A search whose beams are all read, and the row of the pass after each beam; `unguided` is empty without guidance.
struct Ready {
  Search* search = nullptr;
  std::vector<std::int32_t> rows, unguided;
};

// Some next tokens of a beam that a pass reads.
struct Part {
  Search* search = nullptr;
  std::size_t beam = 0, which = 0;
  std::int32_t count = 0;
};
using Pass = std::vector<Part>;

}  // namespace headlight

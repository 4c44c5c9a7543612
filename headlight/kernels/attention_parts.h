// The plan of attention's backward pass: which sentences, or blocks of a long sentence, one thread computes at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/sequences.h"

namespace headlight::kernels {

// Computed for one key head and its query heads: all gradients of the sentences order[first] to order[last - 1], one
// after another; or those of one block of keys or queries of a long sentence.
struct BackwardPart {
  enum Kind { whole, keys, queries } kind;
  std::size_t first, last;
  std::int32_t tile = 0;  // first key or query
};

struct BackwardPlan {
  std::vector<std::int32_t> order;  // of the sentences: by their keys
  std::vector<BackwardPart> parts;
};

// Sentences whose keys share some of `key_tokens` rows are one part, so that no two threads add to the same row. A
// sentence that alone would keep one of `threads` busy longer than the others is cut into blocks (with 0 none is); the
// result has the same bits, for 7 products of tiles instead of 5. The plan is in memory that the thread keeps until it
// makes another.
const BackwardPlan& PlanBackward(std::span<const Sequence> queries, std::span<const Sequence> keys,
                                 std::int64_t key_tokens, std::int32_t key_heads, int threads);

}  // namespace headlight::kernels

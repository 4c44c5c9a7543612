// Divides attention's backward pass into tasks. A task computes some sequences, or a block of a long sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/sequences.h"

namespace headlight::kernels {

/// One task for a key head and its query heads. It computes all gradients of the sequences order[first] to order[last -
/// 1], in order, or the gradients of one block of keys or queries of a long sequence.
struct BackwardPart {
  enum Kind { whole, keys, queries } kind;
  std::size_t first, last;
  std::int32_t tile = 0;  ///< first key or query of the block
};

struct BackwardPlan {
  std::vector<std::int32_t> order;  ///< indices of sequences, sorted by their keys
  std::vector<BackwardPart> parts;
};

/// Plans the backward pass. Sequences whose keys share some of `key_tokens` rows form one part, so that no two threads
/// add to the same row. If one sequence would occupy one of `threads` longer than the others, it is divided into
/// blocks, which takes 7 instead of 5 tile products. With 0 threads, no sequence is divided. The bits of the result do
/// not depend on the division. The plan is valid until the thread's next call.
const BackwardPlan& PlanBackward(std::span<const Sequence> queries, std::span<const Sequence> keys,
                                 std::int64_t key_tokens, std::int32_t key_heads, int threads);

}  // namespace headlight::kernels

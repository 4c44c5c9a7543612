// What attention reads, and where its gradients go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"
#include "headlight/base/sequences.h"
#include "headlight/kernels/attention_bias.h"
#include "headlight/kernels/attention_mask.h"
#include "headlight/kernels/cache_entries.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

template <typename T>
struct AttentionInput {
  Matrix<const T> query;  // [query tokens, heads * head_dim]; these three may be column ranges of one projection
  Matrix<const T> key;    // [key tokens, key heads * head_dim]
  Matrix<const T> value;  // [key tokens, key heads * value_dim]

  // One entry per sentence, perhaps with a step between its rows. Queries must not share rows. Keys may: beams of one
  // sentence share its source's keys (and are computed together where they lie one after another).
  std::span<const Sequence> queries, keys;

  // Where given, position p of keys[b] is not row keys[b].begin + p of key and value but row
  // key_rows[keys[b].begin + p]: a cache, in which a reordering of beams moves indices.
  std::span<const std::int32_t> key_rows;

  // With key_rows, perhaps the blocks of a cache instead of the data of key and value: row r of them is row
  // r % kBlockRows of block r / kBlockRows, and has an entry for each key head. kBlockPadding bytes follow a block.
  std::span<const std::byte*const> key_blocks, value_blocks;
  CacheType cache_type = CacheType::unrounded;

  // Where given, a mark for every row of key: no query sees a key whose mark is 0, such as a gap in an alignment.
  std::span<const std::uint8_t> present;

  // Query head h reads key head h / (heads / key_heads) (Ainslie et al., "GQA: Training Generalized Multi-Query
  // Transformer Models from Multi-Head Checkpoints", 2023).
  std::int32_t heads = 1;
  std::int32_t key_heads = 0;  // of key and value; divides heads; 0: as many as heads
  T scale = 1;                 // 1 / sqrt(head_dim) in the paper
  // If positive, a score s is score_cap tanh(s / score_cap) (Gemma Team, "Gemma 2: Improving Open Language Models at
  // a Practical Size", 2024, section 2.2): after the scale, before bias and mask.
  T score_cap = 0;
  AttentionMask mask;
  AttentionBias<T> bias;
  Dropout dropout;  // of weights: a function of (seed, sentence, head, query, key)

  // That of the projections. Unless it is float32, queries, keys, values, weights and the gradients of outputs and
  // scores are rounded to bfloat16 (also where the projections have 8 or 4 bits, which is coarser) before they are
  // multiplied; not for sentences of fewer than kLeastRounded queries, for key_rows, or on a processor without it.
  Compute compute = Compute::float32;
};

// In bfloat16 packing and rounding pay off from about so many queries: 49 with 49 keys take as long as in float32, 128
// with 128 half as long, 5 to 25 twice as long (AMX, 8 heads of 32 and 64).
inline constexpr std::int32_t kLeastRounded = 48;

// Where a gradient goes: it overwrites `to` (rows that no sequence names become 0) or is added to it. Without data
// it is not computed.
template <typename T>
struct GradientTo {
  Matrix<T> to;
  bool add = false;
  bool wanted() const { return to.data != nullptr; }
};

}  // namespace headlight::kernels

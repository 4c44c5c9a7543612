// The input of attention, and the destination of its gradients.
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
  Matrix<const T> query;  ///< [query tokens, heads * head_dim]; query, key and value may be columns of one projection
  Matrix<const T> key;    ///< [key tokens, key_heads * head_dim]
  Matrix<const T> value;  ///< [key tokens, key_heads * value_dim]

  /// One entry per sequence, possibly with a step between rows. Sequences must not share query rows, but may share key
  /// rows. Beams share the keys of their source and are computed together if they are adjacent.
  std::span<const Sequence> queries, keys;

  /// If not empty, position p of keys[b] is row key_rows[keys[b].begin + p] of key and value, as in a cache.
  std::span<const std::int32_t> key_rows;

  /// If key_rows is set, the blocks of a cache can be given instead of the data of key and value. Row r is row r %
  /// kBlockRows of block r / kBlockRows, and has an entry for each key head. kBlockPadding bytes follow each block.
  std::span<const std::byte*const> key_blocks, value_blocks;
  CacheType cache_type = CacheType::unrounded;

  /// If not empty, one byte per row of key. Keys with a 0 byte, such as gaps in an alignment, are masked.
  std::span<const std::uint8_t> present;

  /// Query head h uses key head h / (heads / key_heads) (Ainslie et al., "GQA: Training Generalized Multi-Query
  /// Transformer Models from Multi-Head Checkpoints", 2023).
  std::int32_t heads = 1;
  std::int32_t key_heads = 0;  ///< divides heads; 0: equal to heads
  T scale = 1;                 ///< 1 / sqrt(head_dim) in the paper
  /// If positive, a scaled score s becomes score_cap tanh(s / score_cap), before bias and mask (Gemma Team, "Gemma 2:
  /// Improving Open Language Models at a Practical Size", 2024, section 2.2).
  T score_cap = 0;
  AttentionMask mask;
  AttentionBias<T> bias;
  Dropout dropout;  ///< dropout of weights, a function of (seed, sequence, head, query, key)

  /// The compute type of the projections. Unless it is float32, operands are rounded to bfloat16 before multiplication,
  /// even if the projections use int8 or int4. The operands are queries, keys, values, weights, and the gradients of
  /// outputs and scores. Sequences of fewer than kLeastRounded queries and input with key_rows are never rounded.
  /// Processors without bfloat16 never round.
  Compute compute = Compute::float32;
};

/// The minimum number of queries for bfloat16. With fewer queries, packing and rounding cost more time than bfloat16
/// saves. 49 queries with 49 keys take as long as in float32. 128 queries with 128 keys take half as long, and 5 to 25
/// queries take twice as long (AMX, 8 heads of 32 and 64).
inline constexpr std::int32_t kLeastRounded = 48;

/// The destination of a gradient. The gradient is written to `to`, with 0 in rows outside all sequences, or added to
/// it. The gradient is not computed if `to` has no data.
template <typename T>
struct GradientTo {
  Matrix<T> to;
  bool add = false;
  bool wanted() const { return to.data != nullptr; }
};

}  // namespace headlight::kernels

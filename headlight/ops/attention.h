// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, eq. 1) over packed rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kernels/attention.h"
#include "headlight/ops/cache_blocks.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// A bias that is added to the scaled scores, for example for relative positions or pairs of residues.
/// kernels::AttentionBias describes how a query and a key are mapped to an entry.
struct AttentionBias {
  /// The biases, [entries, heads] or, with heads_first, [heads, entries]. With one bias per pair, also [query, key,
  /// heads] or [heads, query, key]. If empty, there is no bias.
  Tensor values = {};
  bool heads_first = false;
  kernels::BiasIndexing by = kernels::BiasIndexing::pairs;
  std::shared_ptr<const std::vector<std::int32_t>> index = {};  ///< maps pairs or distances to entries
  /// The first pair of each sequence. If null, all sequences share the pairs.
  std::shared_ptr<const std::vector<std::int64_t>> begin = {};

  /// If set, creates a bias for each pass that is computed from `values`. The gradient of the bias is added to
  /// `d_values`, which is empty if no gradient is needed.
  template <typename T>
  using Make = std::function<std::unique_ptr<kernels::ComputedBias<T>>(const Tensor& values, const Tensor& d_values)>;
  Make<float> make_float = {};
  Make<double> make_double = {};
};

/// The settings of Attention.
struct AttentionOptions {
  std::int32_t heads = 1;
  std::int32_t key_heads = 0;  ///< number of key heads; each serves heads / key_heads query heads; 0: equal to heads
  double scale = 1;            ///< factor of the scores
  double score_cap = 0;        ///< if positive, a scaled score s becomes score_cap tanh(s / score_cap), before the bias
  AttentionMask mask = {};     ///< the keys that each query attends to
  Dropout dropout = {};        ///< dropout of the attention weights
  AttentionBias bias = {};     ///< no bias if it has no values
  /// One byte per row of key, which is 0 if the key is masked for all queries. If null, no key is masked.
  std::shared_ptr<const std::vector<std::uint8_t>> present = {};
  Compute compute = Compute::float32;  ///< compute type of the products; see kernels::AttentionInput
};

/// Returns softmax(scale * Q K^T + bias) V per head and sequence, with optionally capped scores: [query tokens, heads *
/// value_dim]. query [query tokens, heads * head_dim], key [key tokens, key_heads * head_dim] and value [key tokens,
/// key_heads * value_dim] may be columns of one tensor. The queries of sequence b attend to the keys of entry b of
/// `keys`.
HEADLIGHT_API Tensor Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& queries,
                               const Sequences& keys, const AttentionOptions& options);

/// Returns the weights of one sequence without dropout, [1, heads, query, key].
HEADLIGHT_API Tensor AttentionWeights(const Tensor& query, const Tensor& key, const Sequences& queries,
                                      const Sequences& keys, const AttentionOptions& options, std::int32_t sequence);

/// Keys and values of a cache. Position p of sequence b is row rows[sequences[b].begin + p].
struct CachedKeys {
  const CacheBlocks *keys, *values;
  std::span<const Sequence> sequences;
  std::span<const std::int32_t> rows;
};

/// Computes attention over a cache, without gradients. Ignores options.compute and computes in float32, so that the
/// result does not depend on how a text is divided into chunks.
HEADLIGHT_API Tensor Attention(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                               const AttentionOptions& options);
HEADLIGHT_API Tensor AttentionWeights(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                                      const AttentionOptions& options, std::int32_t sequence);

}  // namespace headlight::ops

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

// A bias of the scaled scores: relative positions, pairs of residues. See kernels::AttentionBias for how the
// place of a query and a key is found.
struct AttentionBias {
  // [places, heads] or, with heads_first, [heads, places], with one bias per pair perhaps [query, key, heads] or
  // [heads, query, key]; no bias where it is empty.
  Tensor values = {};
  bool heads_first = false;
  kernels::BiasPlaces by = kernels::BiasPlaces::pairs;
  std::shared_ptr<const std::vector<std::int32_t>> index = {};  // of a table or of distances
  std::shared_ptr<const std::vector<std::int64_t>> begin = {};  // each sentence's first pair; none: all share the pairs

  // Where set, a bias that is computed from `values`, made anew for each pass, with the tensor that its gradient is
  // added to, or an empty one where none is wanted.
  template <typename T>
  using Make = std::function<std::unique_ptr<kernels::ComputedBias<T>>(const Tensor& values, const Tensor& d_values)>;
  Make<float> make_float = {};
  Make<double> make_double = {};
};

struct AttentionOptions {
  std::int32_t heads = 1;
  std::int32_t key_heads = 0;  // of keys and values, each for heads / key_heads query heads; 0: as many as heads
  double scale = 1;            // of the scores
  double score_cap = 0;        // where positive, a scaled score s is score_cap tanh(s / score_cap); before the bias
  AttentionMask mask = {};     // which keys a query sees
  Dropout dropout = {};        // of the weights
  AttentionBias bias = {};     // none unless it has values
  // A mark for every row of key, 0 where no query sees it; none: all are seen.
  std::shared_ptr<const std::vector<std::uint8_t>> present = {};
  Compute compute = Compute::float32;  // of the products; see kernels::AttentionInput
};

// softmax(scale * Q K^T + bias) V, perhaps with capped scores, for each head and sentence: query [query tokens, heads *
// head_dim], key [key tokens, key heads * head_dim], value [key tokens, key heads * value_dim], possibly columns of one
// tensor; [query tokens, heads * value_dim]. Sentence b's queries see the keys of entry b of `keys`.
HEADLIGHT_API Tensor Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& queries,
                               const Sequences& keys, const AttentionOptions& options);

// The weights of one sentence without dropout, [1, heads, query, key].
HEADLIGHT_API Tensor AttentionWeights(const Tensor& query, const Tensor& key, const Sequences& queries,
                                      const Sequences& keys, const AttentionOptions& options, std::int32_t sentence);

// Keys and values of a cache. Position p of sentence b is row rows[sequences[b].begin + p].
struct CachedKeys {
  const CacheBlocks *keys, *values;
  std::span<const Sequence> sequences;
  std::span<const std::int32_t> rows;
};

// The same over a cache, in float32 whatever options.compute says: a text may be read in any chunks, and rounding
// depends on the number of queries. Without gradients.
HEADLIGHT_API Tensor Attention(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                               const AttentionOptions& options);
HEADLIGHT_API Tensor AttentionWeights(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                                      const AttentionOptions& options, std::int32_t sentence);

}  // namespace headlight::ops

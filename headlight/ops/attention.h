// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, eq. 1) over packed rows.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kernels/attention.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

struct AttentionOptions {
  std::int32_t heads = 1;
  double scale = 1;         // of the scores
  bool causal = false;      // query i of a sentence sees its keys up to i + (keys - queries)
  std::int32_t window = 0;  // where positive, only keys nearer than this
  Dropout dropout = {};     // of the weights
};

// softmax(scale * Q K^T) V for each head and sentence: query [query tokens, heads * head_dim], key [key tokens,
// heads * head_dim], value [key tokens, heads * value_dim], possibly columns of one tensor; [query tokens,
// heads * value_dim]. Sentence b's queries see the keys of entry b of `keys`, position p of which is row
// key_rows[keys[b].begin + p] where key_rows is given (a cache; it has no gradient).
HEADLIGHT_API Tensor Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& queries,
                               const Sequences& keys, const AttentionOptions& options,
                               std::span<const std::int32_t> key_rows = {});

// The weights of one sentence without dropout, [1, heads, query, key].
HEADLIGHT_API Tensor AttentionWeights(const Tensor& query, const Tensor& key, const Sequences& queries,
                                      const Sequences& keys, const AttentionOptions& options, std::int32_t sentence,
                                      std::span<const std::int32_t> key_rows = {});

}  // namespace headlight::ops

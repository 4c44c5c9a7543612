// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, eq. 1) over packed rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kernels/attention.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Something made of `values` that is added to the scaled scores: relative positions, residue pairs. The kernel's bias
// is made anew for each pass, with the tensor that its gradient is added to, or an empty one where none is wanted.
struct AttentionBias {
  template <typename T>
  using Make = std::function<std::unique_ptr<kernels::AttentionBias<T>>(const Tensor& values, const Tensor& d_values)>;

  Tensor values;
  Make<float> make_float;
  Make<double> make_double;
};

// Kernel<T> is a kernels::AttentionBias<T> that is constructed from (values, d_values).
template <template <typename T> class Kernel>
AttentionBias BiasOf(const Tensor& values) {
  return {values, [](const Tensor& v, const Tensor& d) { return std::make_unique<Kernel<float>>(v, d); },
          [](const Tensor& v, const Tensor& d) { return std::make_unique<Kernel<double>>(v, d); }};
}

struct AttentionOptions {
  std::int32_t heads = 1;
  std::int32_t key_heads = 0;  // of keys and values, each for heads / key_heads query heads; 0: as many as heads
  double scale = 1;            // of the scores
  AttentionMask mask = {};     // which keys a query sees
  Dropout dropout = {};        // of the weights
  AttentionBias bias = {};     // none unless it has values
};

// softmax(scale * Q K^T + bias) V for each head and sentence: query [query tokens, heads * head_dim], key [key tokens,
// key heads * head_dim], value [key tokens, key heads * value_dim], possibly columns of one tensor; [query tokens,
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

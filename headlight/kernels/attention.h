// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, equation 1) for a batch of packed
// sequences: softmax(scale * Q K^T + bias) V per sequence and head. Scores are computed tile by tile (Dao et al.,
// "FlashAttention", 2022), so memory is linear in the number of tokens.
//
// T is float or double. Results are bit-identical for any number of threads. Results are batch-invariant, except for
// dropout, whose hash includes the index of the sequence. In float32, the bits of a query's output do not depend on the
// other queries of its sequence. NaN in a used query, key or value results in NaN.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/kernels/attention_input.h"

namespace headlight::kernels {

/// Writes output [query tokens, heads * value_dim] in the rows of `queries`. The output of a query that attends to no
/// key is 0. If log_sum_exp [query tokens, heads] is not empty, it receives the logarithm of each softmax's
/// denominator. It is +infinity for a query that attends to no key. Throws Error if shapes or sequences do not fit.
template <typename T>
void AttentionForward(const AttentionInput<T>& input, Matrix<T> output, std::span<T> log_sum_exp);

/// Computes the gradients of query, key and value from the output and its gradient. Also computes the gradient of the
/// bias if d_values has data. The gradient of a key head is summed over its query heads. Weights are recomputed from
/// log_sum_exp. Throws Error if the input has key_rows, since a cache has no gradient.
template <typename T>
void AttentionBackward(const AttentionInput<T>& input, Matrix<const T> output, Matrix<const T> d_output,
                       std::span<const T> log_sum_exp, GradientTo<T> d_query, GradientTo<T> d_key,
                       GradientTo<T> d_value);

/// Writes the attention weights of one sequence without dropout to weights[heads, query, key]. Weights of masked keys
/// are 0.
template <typename T>
void AttentionWeights(const AttentionInput<T>& input, std::int32_t sequence, std::span<T> weights);

}  // namespace headlight::kernels

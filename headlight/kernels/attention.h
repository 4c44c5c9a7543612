// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, equation 1) for a batch of sentences
// in packed rows: softmax(scale * Q K^T + bias) V for each sentence and head. The scores exist a tile at a time and
// never as a matrix (Dao et al., "FlashAttention", 2022), so memory grows with the tokens, not with their square.
//
// T is float or double. The results have the same bits at any thread count and are batch-invariant, except for dropout,
// which hashes a sentence's index in the batch. In float32 a query's output also has the same bits whatever other
// queries of its sentence are computed with it. A NaN in a query, key or value that takes part is a NaN in the result.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/kernels/attention_input.h"

namespace headlight::kernels {

// output[query tokens, heads * value_dim]: written in the rows that `queries` names; 0 for a query that sees no key.
// log_sum_exp[query tokens, heads]: the logarithm of each softmax's denominator, for the gradient (+infinity for a
// query that sees no key); empty where no gradient follows. Throws Error where shapes or sequences do not fit.
template <typename T>
void AttentionForward(const AttentionInput<T>& input, Matrix<T> output, std::span<T> log_sum_exp);

// From the output and its gradient, the gradients of query, key and value, shaped as they are, and of the bias where it
// has d_values; a key head's are summed over its query heads. Weights are computed again from log_sum_exp. Without
// key_rows: a cache has no gradient.
template <typename T>
void AttentionBackward(const AttentionInput<T>& input, Matrix<const T> output, Matrix<const T> d_output,
                       std::span<const T> log_sum_exp, GradientTo<T> d_query, GradientTo<T> d_key,
                       GradientTo<T> d_value);

// The attention weights of one sentence, without dropout: weights[heads, query, key], 0 where a key is not seen.
template <typename T>
void AttentionWeights(const AttentionInput<T>& input, std::int32_t sentence, std::span<T> weights);

}  // namespace headlight::kernels

#include "headlight/kernels/pointwise_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/base/parallel.h"

namespace headlight::kernels {
namespace {

constexpr std::int64_t kRows = 256;  // number of rows per task

template <typename T>
T Product(const T* a, const T* b, std::int64_t count) {
  T sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename T>
void AddScaled(T factor, const T* x, T* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
}

// Computes the weights of one head of a row. The head's elements begin at index `index`.
template <typename T>
void Weigh(const T* query, std::span<const Matrix<const T>> sets, std::int64_t row, std::int64_t index,
           std::int64_t head_dim, std::vector<T>& weights) {
  const T scale = 1 / std::sqrt(static_cast<T>(head_dim));
  for (std::size_t set = 0; set < sets.size(); ++set)
    weights[set] = scale * Product(query + index, sets[set].row(row) + index, head_dim);
  const T most = *std::max_element(weights.begin(), weights.end());
  T sum = 0;
  for (T& weight : weights) sum += weight = std::exp(weight - most);
  for (T& weight : weights) weight /= sum;
}

// Calls body(row, first column of the head, weights of the head) for all rows and heads.
template <typename T, typename Body>
void ForEachHead(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads, const Body& body) {
  const std::int64_t head_dim = query.columns / heads;
  ParallelFor((query.rows + kRows - 1) / kRows, [&](std::int64_t task) {
    std::vector<T> weights(sets.size());
    for (std::int64_t row = task * kRows; row < std::min((task + 1) * kRows, query.rows); ++row) {
      for (std::int64_t index = 0; index < query.columns; index += head_dim) {
        Weigh(query.row(row), sets, row, index, head_dim, weights);
        body(row, index, weights);
      }
    }
  });
}

}  // namespace

template <typename T>
void PointwiseAttention(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads, Matrix<T> y) {
  const std::int64_t width = query.columns, head_dim = width / heads;
  ForEachHead(query, sets, heads, [&](std::int64_t row, std::int64_t index, const std::vector<T>& weights) {
    T* const sum = y.row(row) + index;
    std::fill_n(sum, head_dim, T{0});
    for (std::size_t set = 0; set < sets.size(); ++set)
      AddScaled(weights[set], sets[set].row(row) + width + index, sum, head_dim);
  });
}

template <typename T>
void PointwiseAttentionGradient(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads,
                                Matrix<const T> d_y, Matrix<T> d_query, std::span<const Matrix<T>> d_sets) {
  const std::int64_t width = query.columns, head_dim = width / heads;
  const T scale = 1 / std::sqrt(static_cast<T>(head_dim));
  ForEachHead(query, sets, heads, [&](std::int64_t row, std::int64_t index, const std::vector<T>& weights) {
    const T* const incoming = d_y.row(row) + index;
    T* const d_q = d_query.row(row) + index;
    std::fill_n(d_q, head_dim, T{0});
    // The gradient is d score_t = weight_t (d weight_t - sum over u of weight_u d weight_u).
    T mean = 0;
    for (std::size_t set = 0; set < sets.size(); ++set)
      mean += weights[set] * Product(incoming, sets[set].row(row) + width + index, head_dim);
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const T* const key = sets[set].row(row) + index;
      T *const d_key = d_sets[set].row(row) + index, *const d_value = d_key + width;
      const T d_score = scale * weights[set] * (Product(incoming, key + width, head_dim) - mean);
      for (std::int64_t i = 0; i < head_dim; ++i) {
        d_key[i] = d_score * query.row(row)[index + i];
        d_value[i] = weights[set] * incoming[i];
      }
      AddScaled(d_score, key, d_q, head_dim);
    }
  });
}

template void PointwiseAttention<float>(Matrix<const float>, std::span<const Matrix<const float>>, std::int32_t,
                                        Matrix<float>);
template void PointwiseAttention<double>(Matrix<const double>, std::span<const Matrix<const double>>, std::int32_t,
                                         Matrix<double>);
template void PointwiseAttentionGradient<float>(Matrix<const float>, std::span<const Matrix<const float>>, std::int32_t,
                                                Matrix<const float>, Matrix<float>, std::span<const Matrix<float>>);
template void PointwiseAttentionGradient<double>(Matrix<const double>, std::span<const Matrix<const double>>,
                                                 std::int32_t, Matrix<const double>, Matrix<double>,
                                                 std::span<const Matrix<double>>);

}  // namespace headlight::kernels

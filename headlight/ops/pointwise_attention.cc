#include "headlight/ops/pointwise_attention.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/pointwise_attention.h"

namespace headlight::ops {
namespace {

template <typename T>
std::vector<Matrix<T>> MatricesOf(const std::vector<Tensor>& tensors) {
  std::vector<Matrix<T>> matrices;
  for (const Tensor& tensor : tensors) matrices.push_back(tensor.matrix<std::remove_const_t<T>>());
  return matrices;
}

}  // namespace

Tensor PointwiseAttention(const Tensor& query, const std::vector<Tensor>& keys_values, std::int32_t heads) {
  Check(!keys_values.empty(), "PointwiseAttention: there are no keys");
  Check(heads >= 1 && query.columns() % heads == 0, "PointwiseAttention: {} heads of a query of shape {}", heads,
        ToString(query.shape()));
  const Tensor* on_tape = &query;  // any input that is on the tape
  for (const Tensor& one : keys_values) {
    Check(one.rows() == query.rows() && one.columns() == 2 * query.columns() && one.dtype() == query.dtype(),
          "PointwiseAttention: keys and values of shape {} for a query of shape {}", ToString(one.shape()),
          ToString(query.shape()));
    if (one.node() != nullptr) on_tape = &one;
  }
  const Tensor y = Tensor::Empty(query.shape(), query.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    kernels::PointwiseAttention<T>(query.matrix<T>(), MatricesOf<const T>(keys_values), heads, y.matrix<T>());
  });
  return Record(y, {&query, on_tape}, [query, keys_values, heads](const Tensor& dy) {
    const Tensor d_query = Tensor::Empty(query.shape(), dy.dtype());
    std::vector<Tensor> gradients;
    for (const Tensor& one : keys_values) gradients.push_back(Tensor::Empty(one.shape(), dy.dtype()));
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      kernels::PointwiseAttentionGradient<T>(query.matrix<T>(), MatricesOf<const T>(keys_values), heads, dy.matrix<T>(),
                                             d_query.matrix<T>(), MatricesOf<T>(gradients));
    });
    Accumulate(query.node(), d_query);
    for (std::size_t i = 0; i < gradients.size(); ++i) Accumulate(keys_values[i].node(), gradients[i]);
  });
}

}  // namespace headlight::ops

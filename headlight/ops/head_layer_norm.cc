#include "headlight/ops/head_layer_norm.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/layer_norm.h"

namespace headlight::ops {

Tensor HeadLayerNorm(const Tensor& x, const Tensor& gains, std::int64_t head_dim, double epsilon) {
  Check(x.shape().rank() == 2 && head_dim >= 1 && x.columns() % head_dim == 0 && gains.shape() == Shape{x.columns()},
        "HeadLayerNorm: gains {} do not fit x {} with heads of {}", ToString(gains.shape()), ToString(x.shape()),
        head_dim);
  const std::int64_t heads = x.columns() / head_dim;
  const Tensor y = Tensor::Empty(x.shape(), x.dtype()), no_bias = Tensor::Zeros({head_dim}, x.dtype());
  const Tensor means = Tensor::Empty({heads, x.rows()}, x.dtype());
  const Tensor inverse_deviations = Tensor::Empty({heads, x.rows()}, x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    for (std::int64_t head = 0; head < heads; ++head)
      kernels::LayerNormRows<T>(x.matrix<T>().Columns(head * head_dim, head_dim), gains.data<T>() + head * head_dim,
                                no_bias.data<T>(), epsilon, y.matrix<T>().Columns(head * head_dim, head_dim),
                                {means.matrix<T>().row(head), inverse_deviations.matrix<T>().row(head)});
  });
  return Record(y, {&x, &gains},
                [x = x.Detached(), x_node = x.node(), gains, head_dim, heads, means, inverse_deviations,
                 d_bias = no_bias](const Tensor& dy) {
                  const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
                  const Tensor d_gains =
                      gains.node() != nullptr ? SumSlotFor(gains.node()) : Tensor::Zeros(gains.shape(), gains.dtype());
                  Dispatch(dy.dtype(), [&]<typename T>(T) {
                    for (std::int64_t head = 0; head < heads; ++head) {
                      const std::int64_t first = head * head_dim;
                      kernels::LayerNormRowsGradient<T>(
                          x.matrix<T>().Columns(first, head_dim), gains.data<T>() + first,
                          {means.matrix<T>().row(head), inverse_deviations.matrix<T>().row(head)},
                          dy.matrix<T>().Columns(first, head_dim), dx.matrix<T>().Columns(first, head_dim),
                          d_gains.data<T>() + first, d_bias.data<T>());  // the gradient of the bias is not used
                    }
                  });
                  Accumulate(x_node, dx);
                });
}

}  // namespace headlight::ops

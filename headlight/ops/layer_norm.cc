#include "headlight/ops/layer_norm.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/layer_norm.h"

namespace headlight::ops {
namespace {

void CheckNormShapes(const char* operation, const Tensor& x, const Tensor& gain, const Tensor& bias) {
  Check(x.shape().rank() >= 1 && gain.shape() == Shape{x.columns()} && bias.shape() == gain.shape(),
        "{}: a gain of shape {} and a bias of shape {} do not fit x of shape {}", operation, ToString(gain.shape()),
        ToString(bias.shape()), ToString(x.shape()));
}

// Returns the tensor to which the gradient of gain or bias is added, or a temporary tensor if the gradient is not
// needed.
Tensor SumSlotOrScratch(Node* node, const Tensor& like) {
  return node != nullptr ? SumSlotFor(node) : Tensor::Zeros(like.shape(), like.dtype());
}

}  // namespace

Tensor LayerNorm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  CheckNormShapes("LayerNorm", x, gain, bias);
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  const bool wants_gradient = RequiresGradient({&x, &gain, &bias});
  const Tensor moments =
      wants_gradient ? Tensor::Empty({2, x.rows()}, x.dtype()) : Tensor();  // means, then 1 / standard deviation
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::RowMoments<T> saved;
    if (wants_gradient) saved = {moments.data<T>(), moments.data<T>() + x.rows()};
    kernels::LayerNormRows<T>(x.matrix<T>(), gain.data<T>(), bias.data<T>(), epsilon, y.matrix<T>(), saved);
  });
  if (!wants_gradient) return y;
  return Record(y, {&x, &gain, &bias},
                [x = x.Detached(), x_node = x.node(), gain, bias = bias.node(), moments](const Tensor& dy) {
                  const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
                  Dispatch(dy.dtype(), [&]<typename T>(T) {
                    kernels::LayerNormRowsGradient<T>(x.matrix<T>(), gain.data<T>(),
                                                      {moments.data<T>(), moments.data<T>() + x.rows()}, dy.matrix<T>(),
                                                      dx.matrix<T>(), SumSlotOrScratch(gain.node(), gain).data<T>(),
                                                      SumSlotOrScratch(bias, gain).data<T>());
                  });
                  Accumulate(x_node, dx);
                });
}

Tensor ResidualLayerNorm(const Tensor& x, const Tensor& sublayer, Dropout dropout, const Tensor& gain,
                         const Tensor& bias, double epsilon) {
  CheckNormShapes("ResidualLayerNorm", x, gain, bias);
  Check(x.shape() == sublayer.shape(), "ResidualLayerNorm: a sublayer of shape {} does not fit x of shape {}",
        ToString(sublayer.shape()), ToString(x.shape()));
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  const bool wants_gradient = RequiresGradient({&x, &sublayer, &gain, &bias});
  const Tensor sum = wants_gradient ? Tensor::Empty(x.shape(), x.dtype()) : y;
  const Tensor moments =
      wants_gradient ? Tensor::Empty({2, x.rows()}, x.dtype()) : Tensor();  // means, then 1 / standard deviation
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::RowMoments<T> saved;
    if (wants_gradient) saved = {moments.data<T>(), moments.data<T>() + x.rows()};
    kernels::ResidualLayerNormRows<T>(x.matrix<T>(), sublayer.matrix<T>(), dropout, gain.data<T>(), bias.data<T>(),
                                      epsilon, sum.matrix<T>(), y.matrix<T>(), saved);
  });
  if (!wants_gradient) return y;
  return Record(
      y, {&x, &sublayer, &gain, &bias},
      [sum, moments, dropout, x = x.node(), sublayer = sublayer.node(), gain, bias = bias.node()](const Tensor& dy) {
        const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
        const Tensor dsublayer = dropout.probability == 0 ? dx : Tensor::Empty(dy.shape(), dy.dtype());
        Dispatch(dy.dtype(), [&]<typename T>(T) {
          kernels::ResidualLayerNormRowsGradient<T>(
              sum.matrix<T>(), gain.data<T>(), {moments.data<T>(), moments.data<T>() + sum.rows()}, dropout,
              dy.matrix<T>(), dx.matrix<T>(), dsublayer.matrix<T>(), SumSlotOrScratch(gain.node(), gain).data<T>(),
              SumSlotOrScratch(bias, gain).data<T>());
        });
        Accumulate(x, dx);
        Accumulate(sublayer, dsublayer);
      });
}

}  // namespace headlight::ops

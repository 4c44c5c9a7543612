#include "headlight/ops/linear.h"

#include <algorithm>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/ops/weight.h"

namespace headlight::ops {
namespace {

Shape WithLastAxis(const Shape& shape, std::int64_t last) {
  std::array<std::int64_t, Shape::kMaxRank> axes{};
  std::ranges::copy(shape.axes(), axes.begin());
  axes[static_cast<std::size_t>(shape.rank() - 1)] = last;
  return Shape(std::span<const std::int64_t>(axes.data(), static_cast<std::size_t>(shape.rank())));
}

}  // namespace

Tensor Rows(const Weight& weight, std::span<const std::int32_t> ids) {
  const std::int64_t outputs = weight.shape()[0], inputs = weight.shape()[1];
  const Tensor rows = Tensor::Empty({static_cast<std::int64_t>(ids.size()), inputs}, DType::float32);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Check(ids[i] >= 0 && ids[i] < outputs, "row {} is outside a weight of shape {}", ids[i], ToString(weight.shape()));
    float* to = rows.matrix<float>().row(static_cast<std::int64_t>(i));
    if (weight.value.empty())
      weight.packed->Column(ids[i], to);
    else
      std::copy_n(weight.value.matrix<float>().row(ids[i]), inputs, to);
  }
  return rows;
}

Tensor Linear(const Tensor& x, const Weight& weight, const Tensor& bias, Activation activation) {
  const Shape w = weight.shape();
  Check(w.rank() == 2 && x.shape().rank() >= 1 && x.columns() == w[1],
        "Linear: x of shape {} does not fit a weight of shape {}", ToString(x.shape()), ToString(w));
  Check(bias.empty() || bias.elements() == w[0], "Linear: a bias of shape {} does not fit a weight of shape {}",
        ToString(bias.shape()), ToString(w));
  const bool wants_gradient = RequiresGradient({&x, &weight.value, &bias});
  const Tensor y = Tensor::Empty(WithLastAxis(x.shape(), w[0]), x.dtype());
  // The tensor that the activation's gradient needs: relu needs its output, other activations need their input.
  const bool fused = !wants_gradient || activation == Activation::none || activation == Activation::relu;
  const Tensor of_activation = fused ? y : Tensor::Empty(y.shape(), y.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::PackedMatrix<T> made;
    kernels::Gemm<T>(x.matrix<T>(), PackedTransposed<T>(weight, made), of_activation.matrix<T>(),
                     bias.empty() ? nullptr : bias.data<T>(), fused ? activation : Activation::none);
    if (!fused) kernels::ActivationRows<T>(activation, of_activation.matrix<T>(), y.matrix<T>());
  });
  if (!wants_gradient) return y;

  return Record(y, {&x, &weight.value, &bias},
                [x = x.Detached(), x_node = x.node(), weight, bias_node = bias.node(), activation,
                 of_activation = activation == Activation::none ? Tensor() : of_activation](const Tensor& gradient) {
                  Dispatch(x.dtype(), [&]<typename T>(T) {
                    Tensor dy = gradient;
                    if (activation != Activation::none) {
                      dy = Tensor::Empty(gradient.shape(), gradient.dtype());
                      kernels::ActivationRowsGradient<T>(activation, of_activation.matrix<T>(), gradient.matrix<T>(),
                                                         dy.matrix<T>());
                    }
                    if (x_node != nullptr) {
                      const GradientSlot dx = SlotFor(x_node);
                      kernels::Gemm<T>(dy.matrix<T>(), Packed<T>(weight), dx.tensor.matrix<T>(), /*bias=*/nullptr,
                                       Activation::none, dx.accumulate);
                    }
                    if (weight.value.node() != nullptr) {
                      const Tensor dw = SumSlotFor(weight.value.node());
                      kernels::GemmTransposed<T>(dy.matrix<T>(), x.matrix<T>(), dw.matrix<T>(), weight.compute);
                    }
                    if (bias_node != nullptr)
                      kernels::AddColumnSums<T>(dy.matrix<T>(), SumSlotFor(bias_node).template data<T>());
                  });
                });
}

}  // namespace headlight::ops

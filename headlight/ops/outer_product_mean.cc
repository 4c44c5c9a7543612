#include "headlight/ops/outer_product_mean.h"

#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/outer_product.h"
#include "headlight/ops/weight.h"

namespace headlight::ops {

Tensor OuterProductMean(const Tensor& a, const Tensor& b, std::int64_t residues, std::span<const std::uint8_t> present,
                        const Weight& weight, const Tensor& bias, double epsilon) {
  const Shape w = weight.shape();
  Check(
      a.shape() == b.shape() && residues >= 1 && a.rows() % residues == 0 && w[1] == a.columns() * a.columns() &&
          bias.elements() == w[0],
      "OuterProductMean: a of shape {} and b of shape {} of {} residues do not fit a weight of shape {} and a bias of "
      "shape {}",
      ToString(a.shape()), ToString(b.shape()), residues, ToString(w), ToString(bias.shape()));
  Check(present.empty() || std::ssize(present) == a.rows(),
        "OuterProductMean: a mask of {} entries does not fit {} rows", present.size(), a.rows());
  const auto input_of = [residues, epsilon, compute = weight.compute]<typename T>(
                            T, const Tensor& left, const Tensor& right, std::span<const std::uint8_t> marks) {
    return kernels::OuterProductInput<T>{.a = left.matrix<T>(),
                                         .b = right.matrix<T>(),
                                         .residues = residues,
                                         .present = marks,
                                         .epsilon = epsilon,
                                         .compute = compute == Compute::bfloat16 ? compute : Compute::float32};
  };
  const Tensor y = Tensor::Empty({residues * residues, w[0]}, a.dtype());
  Dispatch(a.dtype(), [&]<typename T>(T type) {
    kernels::PackedMatrix<T> made;
    kernels::OuterProductMean<T>(input_of(type, a, b, present), PackedTransposed<T>(weight, made), bias.data<T>(),
                                 y.matrix<T>());
  });
  if (!RequiresGradient({&a, &b, &weight.value, &bias})) return y;
  return Record(y, {&a, &b, &weight.value, &bias},
                [a, b, value = weight.value, bias = bias.node(), input_of,
                 marks = std::vector(present.begin(), present.end())](const Tensor& dy) {
                  const auto empty_like = [](const Tensor& x) {
                    return x.node() == nullptr ? Tensor() : Tensor::Empty(x.shape(), x.dtype());
                  };
                  const Tensor da = empty_like(a), db = empty_like(b);
                  Dispatch(dy.dtype(), [&]<typename T>(T type) {
                    const auto matrix_of = [](const Tensor& x) { return x.empty() ? Matrix<T>() : x.matrix<T>(); };
                    kernels::OuterProductMeanGradient<T>(
                        input_of(type, a, b, marks), value.matrix<T>(), dy.matrix<T>(), matrix_of(da), matrix_of(db),
                        value.node() == nullptr ? Matrix<T>() : SumSlotFor(value.node()).template matrix<T>(),
                        bias == nullptr ? nullptr : SumSlotFor(bias).template data<T>());
                  });
                  if (!da.empty()) Accumulate(a.node(), da);
                  if (!db.empty()) Accumulate(b.node(), db);
                });
}

}  // namespace headlight::ops

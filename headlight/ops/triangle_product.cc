#include "headlight/ops/triangle_product.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/batched_product.h"
#include "headlight/kernels/gate.h"
#include "headlight/kernels/transpose.h"

namespace headlight::ops {
namespace {

// Allocates a plane [residues, residues] for each channel: [channels, residues * residues], padded. If planes were a
// power of two apart, they would compete for a few cache sets.
Tensor EmptyPlanes(std::int64_t channels, std::int64_t pairs, DType dtype) {
  constexpr std::int64_t padding = 64;
  return Tensor::Empty({channels, pairs + padding}, dtype).ViewColumns(0, pairs);
}

template <typename T>
kernels::Planes<T> PlanesOf(const Tensor& x, std::int64_t residues) {
  const Matrix<T> planes = x.matrix<T>();
  return {planes.data, planes.rows, residues, residues, /*transposed=*/false, planes.stride};
}

}  // namespace

Tensor TriangleProduct(const Tensor& projected, std::int64_t residues, Triangle triangle, Compute compute) {
  Check(projected.columns() % 4 == 0 && residues >= 1 && projected.rows() == residues * residues,
        "TriangleProduct: a projection of shape {} does not fit pairs of {} residues", ToString(projected.shape()),
        residues);
  const std::int64_t channels = projected.columns() / 4, pairs = projected.rows();
  const auto part = [channels](const Tensor& of, std::int64_t index) {
    return of.ViewColumns(index * channels, channels);
  };
  // Returns the gated a (index 0) or b (index 2), [channels, pairs].
  const auto gated = [=](const Tensor& of, std::int64_t index) {
    const Tensor planes = EmptyPlanes(channels, pairs, of.dtype());
    Dispatch(of.dtype(), [&]<typename T>(T) {
      kernels::GateTransposed<T>(part(of, index).template matrix<T>(), part(of, index + 1).template matrix<T>(),
                                 planes.matrix<T>());
    });
    return planes;
  };
  const auto multiply = [=]<typename T>(kernels::Planes<T> a, kernels::Planes<T> b) {
    const Tensor c = EmptyPlanes(channels, pairs, DTypeOf<T>());
    kernels::BatchedProduct<T>(a, b, PlanesOf<T>(c, residues), compute);
    return c;
  };
  const Tensor y = Tensor::Empty({pairs, channels}, projected.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    const Tensor a_planes = gated(projected, 0), b_planes = gated(projected, 2);
    const auto a = PlanesOf<T>(a_planes, residues), b = PlanesOf<T>(b_planes, residues);
    const Tensor sums = triangle == Triangle::outgoing ? multiply(a, b.Transposed()) : multiply(a.Transposed(), b);
    kernels::Transpose<T>(sums.matrix<T>(), y.matrix<T>());
  });
  return Record(y, {&projected}, [=, node = projected.node(), projected = projected.Detached()](const Tensor& dy) {
    const Tensor d_projected = Tensor::Empty(projected.shape(), dy.dtype()),
                 d_planes = EmptyPlanes(channels, pairs, dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      kernels::Transpose<T>(dy.matrix<T>(), d_planes.matrix<T>());
      const auto d = PlanesOf<T>(d_planes, residues);
      const auto give = [&](std::int64_t index, const Tensor& of_planes) {
        kernels::GateTransposedGradient<T>(part(projected, index).template matrix<T>(),
                                           part(projected, index + 1).template matrix<T>(), of_planes.matrix<T>(),
                                           part(d_projected, index).template matrix<T>(),
                                           part(d_projected, index + 1).template matrix<T>());
      };
      {
        const Tensor b_planes = gated(projected, 2);
        const auto b = PlanesOf<T>(b_planes, residues);
        give(0, triangle == Triangle::outgoing ? multiply(d, b) : multiply(b, d.Transposed()));
      }
      const Tensor a_planes = gated(projected, 0);
      const auto a = PlanesOf<T>(a_planes, residues);
      give(2, triangle == Triangle::outgoing ? multiply(d.Transposed(), a) : multiply(a, d));
    });
    Accumulate(node, d_projected);
  });
}

}  // namespace headlight::ops

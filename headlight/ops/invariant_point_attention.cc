#include "headlight/ops/invariant_point_attention.h"

#include <algorithm>
#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/batched_product.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/softmax.h"

namespace headlight::ops {
namespace {

// The offsets of one head's elements in a residue's row of query, key_value and their points.
struct Head {
  Head(const InvariantPointShape& shape, std::int64_t of_head)
      : dim(shape.head_dim),
        points(shape.query_points),
        value_points(shape.value_points),
        query(of_head * dim),
        key(of_head * 2 * dim),
        value(key + dim),
        query_point(of_head * points),
        query_plane(shape.heads * points),
        key_point(of_head * (points + value_points)),
        value_point(key_point + points),
        key_plane(shape.heads * (points + value_points)),
        output_point(shape.heads * dim + of_head * value_points),
        output_plane(shape.heads * value_points) {}

  // Return the sizes of a query and of a value, including their points. The last element of a key is half the squared
  // length of its points.
  std::int64_t width() const { return dim + 3 * points + 1; }
  std::int64_t value_width() const { return dim + 3 * value_points; }

  std::int64_t dim, points, value_points;
  std::int64_t query, key, value;         // first columns of the head
  std::int64_t query_point, query_plane;  // column of the first point's x, and the distance from x to y
  std::int64_t key_point, value_point, key_plane;
  std::int64_t output_point, output_plane;
};

// Computes squared distances as products: -w/2 |q - k|^2 = w q k - w/2 |k|^2 - w/2 |q|^2. The last term is constant
// over keys and does not change the softmax. Queries are [scaled q, w q's points, 1]. Keys are [k, k's points, -w/2
// |k's points|^2].
template <typename T>
class Heads {
 public:
  Heads(const InvariantPointInput& input, const InvariantPointShape& shape)
      : in(input),
        sizes(shape),
        residues(input.query.rows()),
        scale(static_cast<T>(std::sqrt(1.0 / (3.0 * static_cast<double>(shape.head_dim))))),
        bias_scale(static_cast<T>(std::sqrt(1.0 / 3.0))) {}

  Tensor Queries(const Head& head, T weight) const {
    const Tensor to = Tensor::Empty({residues, head.width()}, DTypeOf<T>());
    for (std::int64_t i = 0; i < residues; ++i) {
      T* const row = to.matrix<T>().row(i);
      const T *const from = in.query.matrix<T>().row(i), *const points = in.query_points.matrix<T>().row(i);
      for (std::int64_t c = 0; c < head.dim; ++c) row[c] = scale * from[head.query + c];
      for (std::int64_t axis = 0; axis < 3; ++axis)
        for (std::int64_t p = 0; p < head.points; ++p)
          row[head.dim + axis * head.points + p] = weight * points[head.query_point + axis * head.query_plane + p];
      row[head.width() - 1] = 1;
    }
    return to;
  }
  Tensor Keys(const Head& head, T weight) const {
    const Tensor to = Tensor::Empty({residues, head.width()}, DTypeOf<T>());
    for (std::int64_t j = 0; j < residues; ++j) {
      T* const row = to.matrix<T>().row(j);
      const T* const points = in.key_value_points.matrix<T>().row(j);
      std::copy_n(in.key_value.matrix<T>().row(j) + head.key, head.dim, row);
      T squares = 0;
      for (std::int64_t axis = 0; axis < 3; ++axis)
        for (std::int64_t p = 0; p < head.points; ++p) {
          const T place = points[head.key_point + axis * head.key_plane + p];
          row[head.dim + axis * head.points + p] = place;
          squares += place * place;
        }
      row[head.width() - 1] = -weight / 2 * squares;
    }
    return to;
  }
  Tensor Values(const Head& head) const {
    const Tensor to = Tensor::Empty({residues, head.value_width()}, DTypeOf<T>());
    for (std::int64_t j = 0; j < residues; ++j)
      MoveValues<false>(head, to.matrix<T>().row(j), in.key_value.matrix<T>().row(j),
                        in.key_value_points.matrix<T>().row(j));
    return to;
  }
  // Gathers a row of values or, if `back` is true, scatters its gradient.
  template <bool back, typename Number>
  static void MoveValues(const Head& head, T* row, Number* values, Number* points) {
    const auto move = [&](T* here, Number* there, std::int64_t count) {
      if constexpr (back)
        std::copy_n(here, count, there);
      else
        std::copy_n(there, count, here);
    };
    move(row, values + head.value, head.dim);
    for (std::int64_t axis = 0; axis < 3; ++axis)
      move(row + head.dim + axis * head.value_points, points + head.value_point + axis * head.key_plane,
           head.value_points);
  }
  // Copies a row of a head's results to a row of the output or, if `back` is true, in the reverse direction.
  template <bool back, typename Number>
  static void MoveOutput(const Head& head, T* row, Number* output) {
    const auto move = [&](T* here, Number* there, std::int64_t count) {
      if constexpr (back)
        std::copy_n(there, count, here);
      else
        std::copy_n(here, count, there);
    };
    move(row, output + head.query, head.dim);
    for (std::int64_t axis = 0; axis < 3; ++axis)
      move(row + head.dim + axis * head.value_points, output + head.output_point + axis * head.output_plane,
           head.value_points);
  }

  // Returns the matrix [query, key] of one head in a tensor [residues (query), heads, residues (key)].
  Matrix<T> OfHead(const Tensor& weights, std::int64_t head) const {
    return {weights.data<T>() + head * residues, residues, residues, sizes.heads * residues};
  }
  kernels::Planes<T> WeightPlanes(const Tensor& weights) const {
    return {weights.data<T>(), residues, sizes.heads, residues};
  }
  kernels::Planes<const T> PairPlanes() const { return {in.pair.data<T>(), residues, residues, in.pair.columns()}; }
  std::int64_t pair_start() const { return sizes.heads * (sizes.head_dim + 3 * sizes.value_points); }

  const InvariantPointInput& in;
  InvariantPointShape sizes;
  std::int64_t residues;
  T scale, bias_scale;
};

// Returns a^T b, summed over rows.
template <typename T>
Tensor TransposedProduct(Matrix<const T> a, const Tensor& b) {
  const Tensor c = Tensor::Zeros({a.columns, b.columns()}, b.dtype());
  kernels::GemmTransposed<T>(a, b.matrix<T>(), c.matrix<T>());
  return c;
}

template <typename T>
void Multiply(Matrix<const T> a, const Tensor& b, bool transposed, Matrix<T> c, bool accumulate = false) {
  kernels::PackedMatrix<T> packed(transposed ? b.columns() : b.rows(), transposed ? b.rows() : b.columns());
  packed.Pack(b.matrix<T>(), transposed);
  kernels::Gemm<T>(a, packed, c, nullptr, Activation::none, accumulate);
}

// Returns the attention weights, [residues, heads, residues].
template <typename T>
Tensor WeightsOf(const Heads<T>& heads) {
  const std::int64_t residues = heads.residues, count = heads.sizes.heads;
  const Tensor weights = Tensor::Empty({residues * count, residues}, DTypeOf<T>());
  for (std::int64_t h = 0; h < count; ++h) {
    const Head head(heads.sizes, h);
    const T weight = heads.in.point_weights.template data<T>()[h];
    Multiply<T>(heads.Queries(head, weight).template matrix<T>(), heads.Keys(head, weight), /*transposed=*/true,
                heads.OfHead(weights, h));
  }
  ParallelFor(residues, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < residues; ++j) {
      const T* const bias = heads.in.bias.template matrix<T>().row(i * residues + j);
      for (std::int64_t h = 0; h < count; ++h) heads.OfHead(weights, h).row(i)[j] += heads.bias_scale * bias[h];
    }
  });
  kernels::SoftmaxRows<T>(weights.matrix<T>(), weights.matrix<T>());
  return weights;
}

template <typename T>
void Forward(const Heads<T>& heads, const Tensor& weights, const Tensor& y) {
  const std::int64_t residues = heads.residues, pair = heads.in.pair.columns();
  for (std::int64_t h = 0; h < heads.sizes.heads; ++h) {
    const Head head(heads.sizes, h);
    const Tensor sums = Tensor::Empty({residues, head.value_width()}, y.dtype());
    Multiply<T>(heads.OfHead(weights, h), heads.Values(head), /*transposed=*/false, sums.matrix<T>());
    for (std::int64_t i = 0; i < residues; ++i)
      Heads<T>::template MoveOutput<false>(head, sums.matrix<T>().row(i), y.matrix<T>().row(i));
  }
  const Tensor pairs = Tensor::Empty({residues, heads.sizes.heads * pair}, y.dtype());
  kernels::BatchedProduct<T>(heads.WeightPlanes(weights), heads.PairPlanes(),
                             {pairs.data<T>(), residues, heads.sizes.heads, pair});
  y.ViewColumns(heads.pair_start(), pairs.columns()).CopyFrom(pairs);
}

// Returns the gradients of the inputs.
template <typename T>
InvariantPointInput Backward(const Heads<T>& heads, const Tensor& weights, const Tensor& dy) {
  const auto zeros_like = [](const Tensor& x) { return Tensor::Zeros(x.shape(), x.dtype()); };
  const InvariantPointInput& in = heads.in;
  const InvariantPointInput d = {
      zeros_like(in.query), zeros_like(in.key_value),     zeros_like(in.query_points), zeros_like(in.key_value_points),
      zeros_like(in.bias),  zeros_like(in.point_weights), zeros_like(in.pair)};
  const std::int64_t residues = heads.residues, count = heads.sizes.heads, pair = in.pair.columns();
  const Tensor d_pairs = dy.ViewColumns(heads.pair_start(), count * pair).Clone();
  const kernels::Planes<T> d_pair_planes = {d_pairs.data<T>(), residues, count, pair};
  const Tensor d_weights = Tensor::Empty(weights.shape(), weights.dtype());
  kernels::BatchedProduct<T>(d_pair_planes, heads.PairPlanes().Transposed(), heads.WeightPlanes(d_weights));
  kernels::BatchedProduct<T>(heads.WeightPlanes(weights).Transposed(), d_pair_planes,
                             {d.pair.data<T>(), residues, residues, pair});
  for (std::int64_t h = 0; h < count; ++h) {
    const Head head(heads.sizes, h);
    const Tensor d_sums = Tensor::Empty({residues, head.value_width()}, dy.dtype());
    for (std::int64_t i = 0; i < residues; ++i)
      Heads<T>::template MoveOutput<true>(head, d_sums.matrix<T>().row(i), dy.matrix<T>().row(i));
    Multiply<T>(d_sums.matrix<T>(), heads.Values(head), /*transposed=*/true, heads.OfHead(d_weights, h),
                /*accumulate=*/true);
    const Tensor d_values = TransposedProduct<T>(heads.OfHead(weights, h), d_sums);
    for (std::int64_t j = 0; j < residues; ++j)
      Heads<T>::template MoveValues<true>(head, d_values.matrix<T>().row(j), d.key_value.matrix<T>().row(j),
                                          d.key_value_points.matrix<T>().row(j));
  }
  kernels::SoftmaxRowsGradient<T>(weights.matrix<T>(), d_weights.matrix<T>(), d_weights.matrix<T>());
  ParallelFor(residues, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < residues; ++j)
      for (std::int64_t h = 0; h < count; ++h)
        d.bias.matrix<T>().row(i * residues + j)[h] = heads.bias_scale * heads.OfHead(d_weights, h).row(i)[j];
  });
  for (std::int64_t h = 0; h < count; ++h) {
    const Head head(heads.sizes, h);
    const T weight = in.point_weights.data<T>()[h];
    const Tensor queries = heads.Queries(head, weight), keys = heads.Keys(head, weight);
    const Tensor d_queries = Tensor::Empty(queries.shape(), queries.dtype());
    Multiply<T>(heads.OfHead(d_weights, h), keys, /*transposed=*/false, d_queries.matrix<T>());
    const Tensor d_keys = TransposedProduct<T>(heads.OfHead(d_weights, h), queries);
    T d_weight = 0;
    for (std::int64_t i = 0; i < residues; ++i) {
      const T *const from_query = d_queries.matrix<T>().row(i), *const from_key = d_keys.matrix<T>().row(i);
      const T d_squares = from_key[head.width() - 1];
      for (std::int64_t c = 0; c < head.dim; ++c) {
        d.query.matrix<T>().row(i)[head.query + c] = heads.scale * from_query[c];
        d.key_value.matrix<T>().row(i)[head.key + c] = from_key[c];
      }
      for (std::int64_t axis = 0; axis < 3; ++axis) {
        for (std::int64_t p = 0; p < head.points; ++p) {
          const std::int64_t at = head.dim + axis * head.points + p;
          const std::int64_t query_at = head.query_point + axis * head.query_plane + p;
          const std::int64_t key_at = head.key_point + axis * head.key_plane + p;
          const T place = in.key_value_points.matrix<T>().row(i)[key_at];
          d.query_points.matrix<T>().row(i)[query_at] = weight * from_query[at];
          d.key_value_points.matrix<T>().row(i)[key_at] = from_key[at] - weight * place * d_squares;
          d_weight += in.query_points.matrix<T>().row(i)[query_at] * from_query[at] - place * place / 2 * d_squares;
        }
      }
    }
    d.point_weights.data<T>()[h] = d_weight;
  }
  return d;
}

void CheckShapes(const InvariantPointInput& input, const InvariantPointShape& shape) {
  const std::int64_t residues = input.query.rows();
  const auto check = [&](const char* name, const Tensor& x, std::int64_t rows, std::int64_t columns) {
    Check(x.rows() == rows && x.columns() == columns && x.contiguous() && x.dtype() == input.query.dtype(),
          "InvariantPointAttention: {} has shape {}, not [{}, {}]", name, ToString(x.shape()), rows, columns);
  };
  check("a query", input.query, residues, shape.heads * shape.head_dim);
  check("keys and values", input.key_value, residues, 2 * shape.heads * shape.head_dim);
  check("query points", input.query_points, residues, 3 * shape.heads * shape.query_points);
  check("key and value points", input.key_value_points, residues,
        3 * shape.heads * (shape.query_points + shape.value_points));
  check("a bias", input.bias, residues * residues, shape.heads);
  check("point weights", input.point_weights, 1, shape.heads);
  check("pairs", input.pair, residues * residues, input.pair.columns());
}

}  // namespace

Tensor InvariantPointAttention(const InvariantPointInput& input, const InvariantPointShape& shape) {
  CheckShapes(input, shape);
  const std::int64_t residues = input.query.rows();
  const Tensor y = Tensor::Empty(
      {residues, shape.heads * (shape.head_dim + 3 * shape.value_points + input.pair.columns())}, input.query.dtype());
  Tensor weights;
  Dispatch(y.dtype(), [&]<typename T>(T) {
    const Heads<T> heads(input, shape);
    weights = WeightsOf(heads);
    Forward(heads, weights, y);
  });
  return Record(y,
                {&input.query, &input.key_value, &input.query_points, &input.key_value_points, &input.bias,
                 &input.point_weights, &input.pair},
                [input, shape, weights](const Tensor& dy) {
                  InvariantPointInput d;
                  Dispatch(dy.dtype(), [&]<typename T>(T) { d = Backward(Heads<T>(input, shape), weights, dy); });
                  Accumulate(input.query.node(), d.query);
                  Accumulate(input.key_value.node(), d.key_value);
                  Accumulate(input.query_points.node(), d.query_points);
                  Accumulate(input.key_value_points.node(), d.key_value_points);
                  Accumulate(input.bias.node(), d.bias);
                  Accumulate(input.point_weights.node(), d.point_weights);
                  Accumulate(input.pair.node(), d.pair);
                });
}

Tensor InvariantPointWeights(const InvariantPointInput& input, const InvariantPointShape& shape) {
  CheckShapes(input, shape);
  const std::int64_t residues = input.query.rows();
  const Tensor to = Tensor::Empty({1, shape.heads, residues, residues}, input.query.dtype());
  Dispatch(to.dtype(), [&]<typename T>(T) {
    const Heads<T> heads(input, shape);
    const Tensor weights = WeightsOf(heads);
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t i = 0; i < residues; ++i)
        std::copy_n(heads.OfHead(weights, h).row(i), residues, to.data<T>() + (h * residues + i) * residues);
  });
  return to;
}

}  // namespace headlight::ops

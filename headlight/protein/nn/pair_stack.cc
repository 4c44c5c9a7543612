#include "headlight/protein/nn/pair_stack.h"

#include <functional>

#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/gate.h"
#include "headlight/ops/residual.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

// Averages the attention weights [1, heads, pair, other residue] over the pairs of each residue. Returns [1, heads,
// residue, other residue].
Tensor MeanOfPairs(const GatedAttention::WeightsOfSequence& weights, std::int32_t residues) {
  Tensor means;
  for (std::int32_t residue = 0; residue < residues; ++residue) {
    const Tensor of_pairs = weights(residue);
    if (means.empty()) means = Tensor::Zeros(of_pairs.shape(), of_pairs.dtype());
    const std::int64_t heads = of_pairs.shape()[1];
    Dispatch(of_pairs.dtype(), [&]<typename T>(T) {
      for (std::int64_t head = 0; head < heads; ++head) {
        T* const mean = means.data<T>() + (head * residues + residue) * residues;
        for (std::int32_t pair = 0; pair < residues; ++pair) {
          const T* const row = of_pairs.data<T>() + (head * residues + pair) * residues;
          for (std::int32_t other = 0; other < residues; ++other) mean[other] += row[other] / static_cast<T>(residues);
        }
      }
    });
  }
  return means;
}

}  // namespace

Tensor DropShared(Context& context, const Tensor& x, std::int64_t height, double probability, DropoutShared shared) {
  const Dropout dropout = context.NextDropout(probability);
  if (dropout.probability == 0) return x;
  const std::int64_t width = x.rows() / height, columns = x.columns();
  const bool rows = shared == DropoutShared::rows;
  const Tensor ones = Tensor::Empty({rows ? width : height, columns}, x.dtype());
  ones.Fill(1);
  const Tensor mask = ops::Drop(ones, dropout).ViewAs({rows ? 1 : height, rows ? width : 1, columns});
  return ops::Reshape(ops::Multiply(ops::Reshape(x, {height, width, columns}), mask), x.shape());
}

Transition::Transition(const Scope& scope, std::int64_t model, std::int64_t times)
    : norm_(scope / "layer_norm", model),
      inner_(scope, {"linear_1"}, model, times * model, /*bias=*/true, /*stored_transposed=*/false, HeNormal(model)),
      outer_(scope, {"linear_2"}, times * model, model, /*bias=*/true, /*stored_transposed=*/false, kZeroLinear) {}

Tensor Transition::operator()(Context& context, const Tensor& x) const {
  return outer_(context, inner_(context, norm_(context, x), Activation::relu));
}

TriangleMultiplication::TriangleMultiplication(const Scope& scope, std::int64_t pair, std::int64_t channels,
                                               ops::Triangle triangle)
    : triangle_(triangle),
      norm_in_(scope / "layer_norm_in", pair),
      norm_out_(scope / "layer_norm_out", channels),
      projections_(scope, {"linear_a_p", "linear_a_g", "linear_b_p", "linear_b_g"}, pair, 4 * channels),
      gate_(scope, {"linear_g"}, pair, pair, /*bias=*/true, /*stored_transposed=*/false, kOpenGate),
      output_(scope, {"linear_z"}, channels, pair, /*bias=*/true, /*stored_transposed=*/false, kZeroLinear) {}

Tensor TriangleMultiplication::operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid) const {
  const Tensor x = norm_in_(context, pair);
  const Tensor sums =
      ops::TriangleProduct(projections_(context, x), grid.residues, triangle_,
                           projections_.compute() == Compute::bfloat16 ? Compute::bfloat16 : Compute::float32);
  return ops::Gate(output_(context, norm_out_(context, sums)), gate_(context, x));
}

TriangleAttention::TriangleAttention(const Scope& scope, std::int64_t pair, std::int32_t heads, std::int64_t head_dim,
                                     Node node)
    : node_(node),
      norm_(scope / "layer_norm", pair),
      bias_(scope, {"linear"}, pair, heads, /*bias=*/false, /*stored_transposed=*/false, LeCunNormal(pair)),
      attention_(scope / "mha", pair, heads, head_dim) {}

// Attention around the ending node is equal to attention around the starting node for the transposed pairs. The columns
// are accessed with a stride, and only the bias, which is small, is transposed.
Tensor TriangleAttention::operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid) const {
  const Tensor x = norm_(context, pair), bias = bias_(context, x);
  const bool starting = node_ == Node::starting;
  std::function<void(const GatedAttention::WeightsOfSequence&)> look;
  if (context.hooks.residues)
    look = [&](const auto& weights) {
      context.hooks.residues({starting ? ResidueAttentionKind::starting_node : ResidueAttentionKind::ending_node,
                              MeanOfPairs(weights, grid.residues)});
    };
  if (starting) return attention_(context, x, grid.pair_rows, {.values = bias}, {}, look);
  return attention_(context, x, grid.pair_columns, {.values = ops::Embedding(bias, grid.transposed)}, {}, look);
}

PairStack::Triangles::Triangles(const Scope& scope, const PairStackConfig& config)
    : outgoing(scope / "tri_mul_out", config.pair, config.channels, ops::Triangle::outgoing),
      incoming(scope / "tri_mul_in", config.pair, config.channels, ops::Triangle::incoming),
      starting(scope / "tri_att_start", config.pair, config.heads, config.head_dim, TriangleAttention::Node::starting),
      ending(scope / "tri_att_end", config.pair, config.heads, config.head_dim, TriangleAttention::Node::ending) {}

PairStack::PairStack(const Scope& scope, const PairStackConfig& config)
    : dropout_(config.dropout),
      attention_first_(config.attention_first),
      triangles_(config.triangles ? std::optional<Triangles>(Triangles(scope, config)) : std::nullopt),
      transition_(scope / "pair_transition", config.pair, config.transition) {}

Tensor PairStack::operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid) const {
  Tensor z = pair;
  const auto add = [&](const Tensor& update, DropoutShared shared) {
    z = ops::Residual(z, DropShared(context, update, grid.residues, dropout_, shared));
  };
  const auto multiply = [&] {
    add(triangles_->outgoing(context, z, grid), DropoutShared::rows);
    add(triangles_->incoming(context, z, grid), DropoutShared::rows);
  };
  if (triangles_) {
    if (!attention_first_) multiply();
    add(triangles_->starting(context, z, grid), DropoutShared::rows);
    add(triangles_->ending(context, z, grid), DropoutShared::columns);
    if (attention_first_) multiply();
  }
  return ops::Residual(z, transition_(context, z));
}

}  // namespace headlight

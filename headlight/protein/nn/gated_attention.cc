#include "headlight/protein/nn/gated_attention.h"

#include <cmath>
#include <span>

#include "headlight/ops/gate.h"
#include "headlight/ops/masked_mean.h"
#include "headlight/ops/view.h"

namespace headlight {

LinearInitialization LeCunNormal(std::int64_t inputs) {
  return {Initialization::Normal(1 / std::sqrt(static_cast<double>(inputs))), 0};
}

LinearInitialization HeNormal(std::int64_t inputs) {
  return {Initialization::Normal(std::sqrt(2 / static_cast<double>(inputs))), 0};
}

GatedAttention::GatedAttention(const Scope& scope, std::int64_t model, std::int32_t heads, std::int64_t head_dim)
    : heads_(heads),
      width_(heads * head_dim),
      query_key_value_(scope, {"linear_q", "linear_k", "linear_v"}, model, 3 * width_, /*bias=*/false),
      gate_(scope, {"linear_g"}, model, width_, /*bias=*/true, /*stored_transposed=*/false, kOpenGate),
      output_(scope, {"linear_o"}, width_, model, /*bias=*/true, /*stored_transposed=*/false, kZeroLinear) {}

Tensor GatedAttention::operator()(Context& context, const Tensor& x, const Sequences& sequences,
                                  const ops::AttentionBias& bias, const AlignmentGrid::Marks& present,
                                  const std::function<void(const WeightsOfSequence&)>& look) const {
  const Tensor projected = query_key_value_(context, x);
  const auto part = [&](std::int64_t index) { return ops::Columns(projected, index * width_, width_); };
  const ScaledDotProductAttention attention = {
      .heads = heads_, .bias = bias, .present = present, .compute = output_.compute()};
  const Tensor attended = attention(context, part(0), part(1), part(2), sequences, sequences);
  if (look)
    look([&](std::int32_t sequence) { return attention.Weights(part(0), part(1), sequences, sequences, sequence); });
  return output_(context, ops::Gate(attended, gate_(context, x)));
}

GlobalColumnAttention::GlobalColumnAttention(const Scope& scope, std::int64_t model, std::int32_t heads,
                                             std::int64_t head_dim)
    : heads_(heads),
      head_dim_(head_dim),
      query_(scope, {"linear_q"}, model, heads * head_dim, /*bias=*/false),
      key_value_(scope, {"linear_k", "linear_v"}, model, 2 * head_dim, /*bias=*/false),
      gate_(scope, {"linear_g"}, model, heads * head_dim, /*bias=*/true, /*stored_transposed=*/false, kOpenGate),
      output_(scope, {"linear_o"}, heads * head_dim, model, /*bias=*/true, /*stored_transposed=*/false, kZeroLinear) {}

Tensor GlobalColumnAttention::operator()(Context& context, const Tensor& x, const AlignmentGrid& grid) const {
  constexpr double epsilon = 1e-10;
  const auto present =
      grid.present == nullptr ? std::span<const std::uint8_t>() : std::span<const std::uint8_t>(*grid.present);
  const Tensor query = query_(context, ops::MaskedMean(x, grid.residues, present, epsilon));
  const Tensor key_value = key_value_(context, x);
  Sequences queries;  // one query per column
  for (std::int32_t residue = 0; residue < grid.residues; ++residue) queries.push_back({residue, 1});
  const ScaledDotProductAttention attention = {.heads = heads_, .key_heads = 1, .present = grid.present};
  const Tensor attended = attention(context, query, ops::Columns(key_value, 0, head_dim_),
                                    ops::Columns(key_value, head_dim_, head_dim_), queries, grid.alignment_columns);
  return output_(context, ops::Gate(attended, gate_(context, x)));
}

}  // namespace headlight

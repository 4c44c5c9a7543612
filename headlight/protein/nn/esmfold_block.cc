#include "headlight/protein/nn/esmfold_block.h"

#include <cstddef>
#include <vector>

#include "headlight/nn/attention.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/gate.h"
#include "headlight/ops/residual.h"
#include "headlight/ops/view.h"
#include "headlight/protein/nn/gated_attention.h"

namespace headlight {
namespace {

Linear LinearOf(const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs,
                const LinearInitialization& initialization, bool bias = true) {
  return {scope, {name}, inputs, outputs, bias, /*stored_transposed=*/false, initialization};
}

}  // namespace

EsmFoldBlock::ResidueMlp::ResidueMlp(const Scope& scope, std::int64_t model, double probability)
    : dropout(probability),
      norm(scope / "mlp" / 0, model),
      inner(LinearOf(scope / "mlp", "1", model, 4 * model, HeNormal(model))),
      outer(LinearOf(scope / "mlp", "3", 4 * model, model, kZeroLinear)) {}

Tensor EsmFoldBlock::ResidueMlp::operator()(Context& context, const Tensor& x) const {
  const Tensor change = outer(context, inner(context, norm(context, x), Activation::relu));
  return ops::Residual(x, change, context.NextDropout(dropout));
}

EsmFoldBlock::EsmFoldBlock(const Scope& scope, const EsmFoldBlockConfig& config)
    : dropout_(config.dropout),
      heads_(static_cast<std::int32_t>(config.sequence / config.sequence_head_dim)),
      sequence_norm_(scope / "layernorm_1", config.sequence),
      bias_norm_(scope / "pair_to_sequence" / "layernorm", config.pair),
      pair_norm_(scope / "sequence_to_pair" / "layernorm", config.sequence),
      bias_(LinearOf(scope / "pair_to_sequence", "linear", config.pair, heads_, kZeroLinear, /*bias=*/false)),
      projections_(LinearOf(scope / "seq_attention", "proj", config.sequence, 3 * config.sequence,
                            LeCunNormal(config.sequence), /*bias=*/false)),
      gate_(LinearOf(scope / "seq_attention", "g_proj", config.sequence, config.sequence, kOpenGate)),
      attended_(LinearOf(scope / "seq_attention", "o_proj", config.sequence, config.sequence, kZeroLinear)),
      pair_projections_(
          LinearOf(scope / "sequence_to_pair", "proj", config.sequence, config.pair, LeCunNormal(config.sequence))),
      pair_output_(LinearOf(scope / "sequence_to_pair", "o_proj", config.pair, config.pair, kZeroLinear)),
      sequence_mlp_(scope / "mlp_seq", config.sequence, config.dropout),
      pair_mlp_(scope / "mlp_pair", config.pair, config.dropout),
      outgoing_(scope / "tri_mul_out", config.pair, config.pair, ops::Triangle::outgoing),
      incoming_(scope / "tri_mul_in", config.pair, config.pair, ops::Triangle::incoming),
      starting_(scope / "tri_att_start", config.pair, static_cast<std::int32_t>(config.pair / config.pair_head_dim),
                config.pair_head_dim, TriangleAttention::Node::starting),
      ending_(scope / "tri_att_end", config.pair, static_cast<std::int32_t>(config.pair / config.pair_head_dim),
              config.pair_head_dim, TriangleAttention::Node::ending) {}

Tensor EsmFoldBlock::AttendInSequence(Context& context, const State& state, const AlignmentGrid& grid) const {
  const Tensor x = sequence_norm_(context, state.sequence);
  const Tensor bias = bias_(context, bias_norm_(context, state.pair));
  // The columns of the projection are grouped by head. Each group has the head's query, key and value.
  const std::int64_t width = x.columns(), parts = 3 * std::int64_t{heads_};
  const Tensor each = ops::Reshape(projections_(context, x), {x.rows() * parts, width / heads_});
  const auto part = [&](std::int32_t index) {
    std::vector<std::int32_t> rows;
    for (std::int64_t row = index; row < each.rows(); row += 3) rows.push_back(static_cast<std::int32_t>(row));
    return ops::Reshape(ops::Embedding(each, rows), x.shape());
  };
  const ScaledDotProductAttention attention = {
      .heads = heads_, .bias = {.values = bias}, .compute = attended_.compute()};
  const Tensor query = part(0), key = part(1);
  const Tensor attended = attention(context, query, key, part(2), grid.alignment_rows, grid.alignment_rows);
  if (context.hooks.residues)
    context.hooks.residues(
        {ResidueAttentionKind::row, attention.Weights(query, key, grid.alignment_rows, grid.alignment_rows, 0)});
  return attended_(context, ops::Gate(attended, gate_(context, x)));
}

// Computes a_j * b_i and a_j - b_i for each pair of residues i and j.
Tensor EsmFoldBlock::PairsOf(Context& context, const Tensor& sequence) const {
  const Tensor both = pair_projections_(context, pair_norm_(context, sequence));
  const std::int64_t residues = both.rows(), half = both.columns() / 2;
  std::vector<std::int32_t> row(static_cast<std::size_t>(residues * residues)), column(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) / residues);
    column[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % residues);
  }
  const Tensor a = ops::Embedding(ops::Columns(both, 0, half), column);
  const Tensor b = ops::Embedding(ops::Columns(both, half, half), row);
  return pair_output_(context, ops::ConcatenateColumns(ops::Multiply(a, b), ops::Add(a, ops::Scale(b, -1))));
}

EsmFoldBlock::State EsmFoldBlock::operator()(Context& context, const State& state, const AlignmentGrid& grid) const {
  Tensor s = ops::Residual(state.sequence, AttendInSequence(context, state, grid), context.NextDropout(dropout_));
  s = sequence_mlp_(context, s);
  Tensor z = ops::Residual(state.pair, PairsOf(context, s));
  const auto add = [&](const Tensor& change, DropoutShared shared) {
    z = ops::Residual(z, DropShared(context, change, grid.residues, 2 * dropout_, shared));
  };
  add(outgoing_(context, z, grid), DropoutShared::columns);
  add(incoming_(context, z, grid), DropoutShared::rows);
  add(starting_(context, z, grid), DropoutShared::columns);
  add(ending_(context, z, grid), DropoutShared::rows);
  return {s, pair_mlp_(context, z)};
}

}  // namespace headlight

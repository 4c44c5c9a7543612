#include "headlight/protein/nn/evoformer.h"

#include <functional>
#include <memory>
#include <span>

#include "headlight/base/error.h"
#include "headlight/nn/recomputed.h"
#include "headlight/ops/outer_product_mean.h"
#include "headlight/ops/residual.h"
#include "headlight/ops/view.h"

namespace headlight {

RowAttentionWithPairBias::RowAttentionWithPairBias(const Scope& scope, const EvoformerConfig& config)
    : norm_(scope / "layer_norm_m", config.alignment),
      pair_norm_(scope / "layer_norm_z", config.pair.pair),
      bias_(scope, {"linear_z"}, config.pair.pair, config.heads, /*bias=*/false, /*stored_transposed=*/false,
            LeCunNormal(config.pair.pair)),
      attention_(scope / "mha", config.alignment, config.heads, config.head_dim) {}

Tensor RowAttentionWithPairBias::operator()(Context& context, const FoldingState& state,
                                            const AlignmentGrid& grid) const {
  const Tensor bias = bias_(context, pair_norm_(context, state.pair));
  std::function<void(const GatedAttention::WeightsOfSequence&)> look;
  if (context.hooks.residues)
    look = [&](const auto& weights) { context.hooks.residues({ResidueAttentionKind::row, weights(0)}); };
  return attention_(context, norm_(context, state.alignment), grid.alignment_rows, {.values = bias}, grid.present,
                    look);
}

ColumnAttention::ColumnAttention(const Scope& scope, const EvoformerConfig& config)
    : norm_((config.global_columns ? scope : scope / "_msa_att") / "layer_norm_m", config.alignment) {
  if (config.global_columns)
    global_.emplace(scope / "global_attention", config.alignment, config.heads, config.head_dim);
  else
    attention_.emplace(scope / "_msa_att" / "mha", config.alignment, config.heads, config.head_dim);
}

Tensor ColumnAttention::operator()(Context& context, const Tensor& alignment, const AlignmentGrid& grid) const {
  const Tensor x = norm_(context, alignment);
  return global_ ? (*global_)(context, x, grid) : (*attention_)(context, x, grid.alignment_columns, {}, grid.present);
}

OuterProductMean::OuterProductMean(const Scope& scope, const EvoformerConfig& config)
    : channels_(config.outer_product),
      norm_(scope / "layer_norm", config.alignment),
      projections_(scope, {"linear_1", "linear_2"}, config.alignment, 2 * channels_) {
  Parameter& weight = (scope / "linear_out").DeclareMatrix({"weight"}, {config.pair.pair, channels_ * channels_});
  weight.initialization = kZeroLinear.weight;
  weight_ = &weight;
  bias_ = &(scope / "linear_out").DeclareVector({"bias"}, config.pair.pair);
}

Tensor OuterProductMean::operator()(Context& context, const Tensor& alignment, const AlignmentGrid& grid) const {
  const Tensor projected = projections_(context, norm_(context, alignment));
  const auto present =
      grid.present == nullptr ? std::span<const std::uint8_t>() : std::span<const std::uint8_t>(*grid.present);
  return ops::OuterProductMean(ops::Columns(projected, 0, channels_), ops::Columns(projected, channels_, channels_),
                               grid.residues, present, context.UseWeight(*weight_), context.Use(*bias_));
}

EvoformerBlock::EvoformerBlock(const Scope& scope, const EvoformerConfig& config)
    : dropout_(config.dropout),
      row_attention_(scope / "msa_att_row", config),
      column_attention_(scope / "msa_att_col", config),
      transition_(scope / "msa_transition", config.alignment, config.transition),
      outer_product_mean_(scope / "outer_product_mean", config),
      pair_stack_(scope / "pair_stack", config.pair) {}

FoldingState EvoformerBlock::operator()(Context& context, const FoldingState& state, const AlignmentGrid& grid) const {
  Tensor m = ops::Residual(state.alignment, DropShared(context, row_attention_(context, state, grid), grid.rows,
                                                       dropout_, DropoutShared::rows));
  m = ops::Residual(m, column_attention_(context, m, grid));
  m = ops::Residual(m, transition_(context, m));
  const Tensor z = ops::Residual(state.pair, outer_product_mean_(context, m, grid));
  return {m, pair_stack_(context, z, grid)};
}

EvoformerStack::EvoformerStack(const Scope& scope, const EvoformerConfig& config, int blocks) : config_(config) {
  for (int block = 0; block < blocks; ++block) blocks_.emplace_back(scope / "blocks" / block, config);
}

FoldingState EvoformerStack::operator()(Context& context, const FoldingState& state, const AlignmentGrid& grid,
                                        const std::function<void()>& after_block) const {
  const auto check = [](const char* name, const Tensor& tensor, const Shape& expected) {
    Check(tensor.shape() == expected, "the {0} representation must have shape {2}, not {1}", name,
          ToString(tensor.shape()), ToString(expected));
  };
  check("alignment's", state.alignment, {std::int64_t{grid.rows} * grid.residues, config_.alignment});
  check("pair", state.pair, {std::int64_t{grid.residues} * grid.residues, config_.pair.pair});
  FoldingState now = state;
  const auto kept = std::make_shared<const AlignmentGrid>(grid);  // needed until the backward pass
  for (const EvoformerBlock& block : blocks_) {
    const std::vector<Tensor> after = RecomputedBlock(
        context, {now.alignment, now.pair}, [&block, kept](Context& own, const std::vector<Tensor>& inputs) {
          const FoldingState made = block(own, {inputs[0], inputs[1]}, *kept);
          return std::vector<Tensor>{made.alignment, made.pair};
        });
    now = {after[0], after[1]};
    if (after_block) after_block();
  }
  return now;
}

}  // namespace headlight

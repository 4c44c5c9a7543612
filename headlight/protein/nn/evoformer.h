// Implements the Evoformer, which updates the MSA and pair representations (Jumper et al., "Highly accurate protein
// structure prediction with AlphaFold", 2021, supplement, section 1.6).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/protein/nn/alignment_grid.h"
#include "headlight/protein/nn/gated_attention.h"
#include "headlight/protein/nn/pair_stack.h"

namespace headlight {

/// The MSA and pair representations, which the blocks update.
struct FoldingState {
  Tensor alignment;  // [rows * residues, alignment]
  Tensor pair;       // [residues * residues, pair]
};

struct EvoformerConfig {
  std::int64_t alignment = 256;  // width of the MSA representation
  std::int32_t heads = 8;
  std::int64_t head_dim = 32;
  std::int64_t outer_product = 32;  // the number of channels
  std::int64_t transition = 4;      // the hidden width of a transition relative to its input
  double dropout = 0.15;            // the dropout probability of row attention
  /// If true, column attention has one query per column (algorithm 19), as for the extra rows.
  bool global_columns = false;
  PairStackConfig pair = {};
};

/// Implements algorithm 7: MSA row-wise gated self-attention with pair bias.
class HEADLIGHT_API RowAttentionWithPairBias {
 public:
  /// Declares layer_norm_m, layer_norm_z, linear_z and mha.
  RowAttentionWithPairBias(const Scope& scope, const EvoformerConfig& config);

  Tensor operator()(Context& context, const FoldingState& state, const AlignmentGrid& grid) const;

 private:
  LayerNorm norm_, pair_norm_;
  Linear bias_;
  GatedAttention attention_;
};

/// Implements MSA column-wise attention: algorithm 19 if global_columns is set, otherwise gated self-attention
/// (algorithm 8).
class HEADLIGHT_API ColumnAttention {
 public:
  /// Declares _msa_att.layer_norm_m and _msa_att.mha. With global_columns, declares layer_norm_m and global_attention.
  ColumnAttention(const Scope& scope, const EvoformerConfig& config);

  Tensor operator()(Context& context, const Tensor& alignment, const AlignmentGrid& grid) const;

 private:
  LayerNorm norm_;
  std::optional<GatedAttention> attention_;
  std::optional<GlobalColumnAttention> global_;
};

/// Implements algorithm 10: the outer product mean of two columns, which updates their pair.
class HEADLIGHT_API OuterProductMean {
 public:
  /// Declares layer_norm, linear_1, linear_2 and linear_out.
  OuterProductMean(const Scope& scope, const EvoformerConfig& config);

  Tensor operator()(Context& context, const Tensor& alignment, const AlignmentGrid& grid) const;

 private:
  std::int64_t channels_;
  LayerNorm norm_;
  Linear projections_;
  const Parameter *weight_, *bias_;
};

/// Implements a block of algorithm 6, or of algorithm 18 for the extra rows.
class HEADLIGHT_API EvoformerBlock {
 public:
  /// Declares msa_att_row, msa_att_col, msa_transition, outer_product_mean and pair_stack.
  EvoformerBlock(const Scope& scope, const EvoformerConfig& config);

  FoldingState operator()(Context& context, const FoldingState& state, const AlignmentGrid& grid) const;

 private:
  double dropout_;
  RowAttentionWithPairBias row_attention_;
  ColumnAttention column_attention_;
  Transition transition_;
  OuterProductMean outer_product_mean_;
  PairStack pair_stack_;
};

/// Applies a sequence of blocks with gradient checkpointing. In training, only the representations between blocks are
/// kept, and activations are recomputed in the backward pass.
class HEADLIGHT_API EvoformerStack {
 public:
  /// Declares blocks.0, blocks.1 and so on.
  EvoformerStack(const Scope& scope, const EvoformerConfig& config, int blocks);

  /// `after_block` is called after each block. Throws Error if the shapes of the state do not match the grid.
  FoldingState operator()(Context& context, const FoldingState& state, const AlignmentGrid& grid,
                          const std::function<void()>& after_block = {}) const;

 private:
  EvoformerConfig config_;
  std::vector<EvoformerBlock> blocks_;
};

}  // namespace headlight

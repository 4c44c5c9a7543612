// Implements the blocks of ESMFold's trunk, which update a sequence representation and a pair representation (Lin et
// al., "Evolutionary-scale prediction of atomic-level protein structure with a language model", 2023, figure 2 and
// supplement).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/protein/nn/alignment_grid.h"
#include "headlight/protein/nn/pair_stack.h"

namespace headlight {

struct EsmFoldBlockConfig {
  std::int64_t sequence = 1024, pair = 128;
  std::int64_t sequence_head_dim = 32, pair_head_dim = 32;
  double dropout = 0;  // the probability for the sequence; the pairs have twice this probability
};

/// Applies sequence attention with a pair bias, the sequence-to-pair update, and AlphaFold's triangle updates.
class HEADLIGHT_API EsmFoldBlock {
 public:
  /// Declares layernorm_1, pair_to_sequence, seq_attention, mlp_seq, sequence_to_pair, tri_mul_out, tri_mul_in,
  /// tri_att_start, tri_att_end and mlp_pair. The head sizes must divide the widths, and the width of a pair must be
  /// even.
  EsmFoldBlock(const Scope& scope, const EsmFoldBlockConfig& config);

  struct State {
    Tensor sequence;  // [residues, sequence]
    Tensor pair;      // [residues * residues, pair]
  };
  /// `grid` must have one row.
  State operator()(Context& context, const State& state, const AlignmentGrid& grid) const;

 private:
  /// Computes x + W_2 relu(W_1 LayerNorm(x)).
  struct ResidueMlp {
    ResidueMlp(const Scope& scope, std::int64_t model, double probability);
    Tensor operator()(Context& context, const Tensor& x) const;

    double dropout;
    LayerNorm norm;
    Linear inner, outer;
  };
  Tensor AttendInSequence(Context& context, const State& state, const AlignmentGrid& grid) const;
  Tensor PairsOf(Context& context, const Tensor& sequence) const;

  double dropout_;
  std::int32_t heads_;
  LayerNorm sequence_norm_, bias_norm_, pair_norm_;
  Linear bias_, projections_, gate_, attended_, pair_projections_, pair_output_;
  ResidueMlp sequence_mlp_, pair_mlp_;
  TriangleMultiplication outgoing_, incoming_;
  TriangleAttention starting_, ending_;
};

}  // namespace headlight

// The first representations of a chain, from its features and from an earlier pass (Jumper et al., "Highly accurate
// protein structure prediction with AlphaFold", 2021, supplement, algorithms 3, 4 and 32).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/protein/nn/evoformer.h"
#include "headlight/protein/nn/folding_features.h"

namespace headlight {

inline constexpr std::int64_t kTargetFeatures = 22, kAlignmentFeatures = 49, kExtraFeatures = 25;

// Algorithms 3 and 4.
class HEADLIGHT_API InputEmbedder {
 public:
  // Declares linear_tf_z_i, linear_tf_z_j, linear_tf_m, linear_msa_m and linear_relpos; places more than `farthest`
  // apart are as far apart as that. With `covariation` it also declares linear_covariation, of what is added to the
  // pairs for it: that is ours, not the paper's.
  InputEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair, std::int32_t farthest, bool covariation);

  FoldingState operator()(Context& context, const FoldingFeatures& features) const;

 private:
  std::int32_t farthest_;
  Linear first_, second_, target_, alignment_, places_;
  std::optional<Linear> covariation_;
};

// The state that is recycled from one pass to the next, without gradients.
struct RecycledState {
  Tensor first_row;   // [residues, alignment]: of the alignment
  Tensor pair;        // [residues * residues, pair]
  Tensor beta_atoms;  // [residues, 3]: C beta, or glycine's C alpha, in angstrom
};

// Of the first pass: zeros.
HEADLIGHT_API RecycledState NothingRecycled(std::int64_t residues, std::int64_t alignment, std::int64_t pair,
                                            DType dtype);

// The state for the next pass, from the outputs of one.
HEADLIGHT_API RecycledState Recycle(const FoldingOutputs& outputs, std::span<const std::int32_t> types);

// Algorithm 32.
class HEADLIGHT_API RecyclingEmbedder {
 public:
  // Declares layer_norm_m, layer_norm_z and linear.
  RecyclingEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair);

  // The state with what is recycled added to its pairs and to the first row of its alignment.
  FoldingState operator()(Context& context, const FoldingState& state, const RecycledState& recycled) const;

 private:
  LayerNorm row_norm_, pair_norm_;
  Linear distances_;
};

// The first cells of an alignment [rows * residues, ...], as a view.
HEADLIGHT_API Tensor FirstCells(const Tensor& alignment, std::int64_t cells);

// For each pair of points [residues, 3], which of so many bins their distance is in: 1.25 angstrom wide, the first from
// 3.25 on, the last without an end; `bins` below the first and at an edge.
HEADLIGHT_API std::vector<std::int32_t> BinsOfDistances(const Tensor& points, std::int64_t bins);

}  // namespace headlight

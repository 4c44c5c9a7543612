// Embeds the input features and the recycled outputs of the previous pass (Jumper et al., "Highly accurate protein
// structure prediction with AlphaFold", 2021, supplement, algorithms 3, 4 and 32).
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

/// Algorithms 3 and 4.
class HEADLIGHT_API InputEmbedder {
 public:
  /// Declares linear_tf_z_i, linear_tf_z_j, linear_tf_m, linear_msa_m and linear_relpos. Relative positions are clipped
  /// to `farthest`. With `covariation` it also declares linear_covariation, whose result is added to the pairs; this is
  /// an extension of headlight that the paper does not have.
  InputEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair, std::int32_t farthest, bool covariation);

  FoldingState operator()(Context& context, const FoldingFeatures& features) const;

 private:
  std::int32_t farthest_;
  Linear first_, second_, target_, alignment_, places_;
  std::optional<Linear> covariation_;
};

/// The state that is recycled from one pass to the next, without gradients.
struct RecycledState {
  Tensor first_row;   // [residues, alignment]: the alignment's first row
  Tensor pair;        // [residues * residues, pair]
  Tensor beta_atoms;  // [residues, 3]: C beta, C alpha for glycine, in angstrom
};

/// The state for the first pass: zeros.
HEADLIGHT_API RecycledState NothingRecycled(std::int64_t residues, std::int64_t alignment, std::int64_t pair,
                                            DType dtype);

/// The state for the next pass, from the outputs of the current one.
HEADLIGHT_API RecycledState Recycle(const FoldingOutputs& outputs, std::span<const std::int32_t> types);

/// Algorithm 32.
class HEADLIGHT_API RecyclingEmbedder {
 public:
  /// Declares layer_norm_m, layer_norm_z and linear.
  RecyclingEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair);

  /// Adds the recycled state to the pairs and to the first row of the alignment.
  FoldingState operator()(Context& context, const FoldingState& state, const RecycledState& recycled) const;

 private:
  LayerNorm row_norm_, pair_norm_;
  Linear distances_;
};

/// A view of the first `cells` cells of an alignment [rows * residues, ...].
HEADLIGHT_API Tensor FirstCells(const Tensor& alignment, std::int64_t cells);

/// For each pair of points [residues, 3], the bin of their distance: `bins` bins, 1.25 angstrom wide, the first from
/// 3.25 on, the last one unbounded. The value is `bins` below the first bin and on an edge.
HEADLIGHT_API std::vector<std::int32_t> BinsOfDistances(const Tensor& points, std::int64_t bins);

}  // namespace headlight

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

/// Implements algorithms 3 and 4: embeds the input features.
class HEADLIGHT_API InputEmbedder {
 public:
  /// Declares linear_tf_z_i, linear_tf_z_j, linear_tf_m, linear_msa_m and linear_relpos. Relative positions are clipped
  /// to `farthest`. With `covariation`, also declares linear_covariation, whose output is added to the pairs. This is
  /// headlight's extension; the paper does not have it.
  InputEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair, std::int32_t farthest, bool covariation);

  FoldingState operator()(Context& context, const FoldingFeatures& features) const;

 private:
  std::int32_t farthest_;
  Linear first_, second_, target_, alignment_, places_;
  std::optional<Linear> covariation_;
};

/// The state that is recycled from one pass to the next, without gradients.
struct RecycledState {
  Tensor first_row;   // [residues, alignment] the first row of the alignment
  Tensor pair;        // [residues * residues, pair]
  Tensor beta_atoms;  // [residues, 3] C beta, or C alpha for glycine, in angstrom
};

/// Returns a state of zeros for the first pass.
HEADLIGHT_API RecycledState EmptyRecycledState(std::int64_t residues, std::int64_t alignment, std::int64_t pair,
                                               DType dtype);

/// Returns the state for the next pass, given the outputs of the current pass.
HEADLIGHT_API RecycledState Recycle(const FoldingOutputs& outputs, std::span<const std::int32_t> types);

/// Implements algorithm 32: embeds the recycled state.
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

/// Returns a view of the first `cells` cells of an alignment [rows * residues, ...].
HEADLIGHT_API Tensor FirstCells(const Tensor& alignment, std::int64_t cells);

/// Returns the distance bin of each pair of points, given points [residues, 3]. There are `bins` bins with a width of
/// 1.25 angstrom. The first begins at 3.25 angstrom, and the last is unbounded. The value is `bins` for distances below
/// the first bin or exactly on an edge.
HEADLIGHT_API std::vector<std::int32_t> BinsOfDistances(const Tensor& points, std::int64_t bins);

}  // namespace headlight

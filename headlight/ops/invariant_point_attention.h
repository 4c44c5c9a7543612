// Invariant point attention (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, algorithm 22).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

struct InvariantPointShape {
  std::int64_t heads = 12, head_dim = 16;
  std::int64_t query_points = 4, value_points = 8;  ///< per head
};

/// The queries, keys, values and bias. Points are in global coordinates. A row has the x of all its points, then all y,
/// then all z. The x, y and z are each ordered by head.
struct InvariantPointInput {
  Tensor query;         ///< [residues, heads * head_dim]
  Tensor key_value;     ///< [residues, heads * 2 * head_dim]: key, then value of each head
  Tensor query_points;  ///< [residues, 3 * heads * query_points]
  Tensor
      key_value_points;  ///< [residues, 3 * heads * (query_points + value_points)]: key, then value points of each head
  Tensor bias;           ///< [residues * residues, heads]
  Tensor point_weights;  ///< [heads]: factors of the squared point distances
  Tensor pair;           ///< [residues * residues, pair]
};

/// Computes the weights softmax_j(sqrt(1 / (3 head_dim)) q_i k_j + sqrt(1 / 3) b_ij - point_weight / 2 * D_ij). D_ij is
/// the sum of the squared distances from i's query points to j's key points. Concatenates, per residue, the weighted
/// sums of values, of value points (in the layout above) and of the residue's pairs.
/// Returns [residues, heads * head_dim + 3 * heads * value_points + heads * pair]. The weights of all heads are saved
/// for the gradient. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor InvariantPointAttention(const InvariantPointInput& input, const InvariantPointShape& shape);

/// Returns only the weights, [1, heads, residue, residue].
HEADLIGHT_API Tensor InvariantPointWeights(const InvariantPointInput& input, const InvariantPointShape& shape);

}  // namespace headlight::ops

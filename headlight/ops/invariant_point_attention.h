// Invariant point attention (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, algorithm 22).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

struct InvariantPointShape {
  std::int64_t heads = 12, head_dim = 16;
  std::int64_t query_points = 4, value_points = 8;  // of a head
};

// Queries, keys, values and bias. Points are global, all x of a row first, then y, then z, head by head.
struct InvariantPointInput {
  Tensor query;             // [residues, heads * head_dim]
  Tensor key_value;         // [residues, heads * 2 * head_dim]: of each head its key, then its value
  Tensor query_points;      // [residues, 3 * heads * query_points]
  Tensor key_value_points;  // [residues, 3 * heads * (query_points + value_points)]: of each head likewise
  Tensor bias;              // [residues * residues, heads]
  Tensor point_weights;     // [heads]: of the points' squared distances
  Tensor pair;              // [residues * residues, pair]
};

// The weights are the softmax over j of sqrt(1 / (3 head_dim)) q_i k_j + sqrt(1 / 3) b_ij - point_weight / 2 * the sum
// of the squared distances of i's query points to j's key points. For each residue the weighted sums of the values,
// head by head; of the value points, laid out as the points above; and of its pairs, head by head: [residues, heads *
// head_dim + 3 * heads * value_points + heads * pair]. The weights of all heads are kept for the gradient. Throws Error
// where the shapes do not fit.
HEADLIGHT_API Tensor InvariantPointAttention(const InvariantPointInput& input, const InvariantPointShape& shape);

// Those weights alone, [1, heads, residue, residue].
HEADLIGHT_API Tensor InvariantPointWeights(const InvariantPointInput& input, const InvariantPointShape& shape);

}  // namespace headlight::ops

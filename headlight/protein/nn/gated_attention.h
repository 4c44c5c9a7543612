// Gated self-attention, and global attention with one query per sequence (Jumper et al., "Highly accurate protein
// structure prediction with AlphaFold", 2021, supplement, algorithms 7, 8, 13, 14 and 19).
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/protein/nn/alignment_grid.h"

namespace headlight {

/// AlphaFold's initialization (supplement 1.11.4). Layers whose output is added to the residual stream start with
/// zeros, so that a block starts as the identity. Gates start at sigmoid(1). Other layers are scaled by their number of
/// inputs (LeCun et al., "Efficient BackProp", 1998; before a relu He et al., 2015). Unlike there, the normal
/// distribution is not truncated.
HEADLIGHT_API LinearInitialisation LeCunNormal(std::int64_t inputs);
HEADLIGHT_API LinearInitialisation HeNormal(std::int64_t inputs);
inline constexpr LinearInitialisation kZeroLinear = {{Initialisation::Kind::constant, 0}, 0};
inline constexpr LinearInitialisation kOpenGate = {{Initialisation::Kind::constant, 0}, 1};

/// W_o (sigmoid(W_g x + b_g) * MultiHead(x)) + b_o.
class HEADLIGHT_API GatedAttention {
 public:
  using WeightsOfSequence = std::function<Tensor(std::int32_t sequence)>;  // [1, heads, query, key]

  /// Declares linear_q, linear_k and linear_v without biases, linear_g and linear_o.
  GatedAttention(const Scope& scope, std::int64_t model, std::int32_t heads, std::int64_t head_dim);

  /// x [tokens, model], normalized, with these sequences, which may be columns of a grid; returns [tokens, model].
  /// `bias` is added to the scores as in ops::Attention. `present` marks the tokens that can be attended to; null: all.
  /// `look`, unless it is empty, gets the attention weights.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& sequences, const ops::AttentionBias& bias,
                    const AlignmentGrid::Marks& present,
                    const std::function<void(const WeightsOfSequence&)>& look = {}) const;

 private:
  std::int32_t heads_;
  std::int64_t width_;  // heads * head_dim
  Linear query_key_value_, gate_, output_;
};

/// Attention of a column's mean query to its cells, with one key head, so that a column has as many scores as cells
/// (algorithm 19). Each cell then gates the column's result.
class HEADLIGHT_API GlobalColumnAttention {
 public:
  /// Declares linear_q, linear_k and linear_v without biases, linear_g and linear_o.
  GlobalColumnAttention(const Scope& scope, std::int64_t model, std::int32_t heads, std::int64_t head_dim);

  /// x [rows * residues, model], normalized; returns the same shape.
  Tensor operator()(Context& context, const Tensor& x, const AlignmentGrid& grid) const;

 private:
  std::int32_t heads_;
  std::int64_t head_dim_;
  Linear query_, key_value_, gate_, output_;
};

}  // namespace headlight

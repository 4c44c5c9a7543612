// Implements gated self-attention, and global attention with one query per sequence (Jumper et al., "Highly accurate
// protein structure prediction with AlphaFold", 2021, supplement, algorithms 7, 8, 13, 14 and 19).
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/protein/nn/alignment_grid.h"

namespace headlight {

/// Return AlphaFold's initialization (supplement, section 1.11.4). Layers whose output is added to the residual stream
/// are initialized with zeros, so a new block is the identity. Gates are initialized to sigmoid(1). Other layers are
/// scaled by their number of inputs (LeCun et al., "Efficient BackProp", 1998). Layers before a relu are scaled as in
/// He et al., 2015. Unlike in AlphaFold, the normal distribution is not truncated.
HEADLIGHT_API LinearInitialization LeCunNormal(std::int64_t inputs);
HEADLIGHT_API LinearInitialization HeNormal(std::int64_t inputs);
inline constexpr LinearInitialization kZeroLinear = {{Initialization::Kind::constant, 0}, 0};
inline constexpr LinearInitialization kOpenGate = {{Initialization::Kind::constant, 0}, 1};

/// Computes W_o (sigmoid(W_g x + b_g) * MultiHead(x)) + b_o.
class HEADLIGHT_API GatedAttention {
 public:
  using WeightsOfSequence = std::function<Tensor(std::int32_t sequence)>;  // returns [1, heads, query, key]

  /// Declares linear_q, linear_k and linear_v without biases, linear_g and linear_o.
  GatedAttention(const Scope& scope, std::int64_t model, std::int32_t heads, std::int64_t head_dim);

  /// Maps normalized x [tokens, model] to the same shape. `sequences` may be the columns of a grid. `bias` is added to
  /// the scores as in ops::Attention. `present` marks the tokens that can be attended to; if it is null, all tokens
  /// can. If `look` is not empty, it is called with a function that returns the attention weights.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& sequences, const ops::AttentionBias& bias,
                    const AlignmentGrid::Marks& present,
                    const std::function<void(const WeightsOfSequence&)>& look = {}) const;

 private:
  std::int32_t heads_;
  std::int64_t width_;  // heads * head_dim
  Linear query_key_value_, gate_, output_;
};

/// Implements algorithm 19. The mean query of a column attends to the column's cells. There is only one key head, so a
/// column has one score per head and cell. Each cell then gates the column's result.
class HEADLIGHT_API GlobalColumnAttention {
 public:
  /// Declares linear_q, linear_k and linear_v without biases, linear_g and linear_o.
  GlobalColumnAttention(const Scope& scope, std::int64_t model, std::int32_t heads, std::int64_t head_dim);

  /// Maps normalized x [rows * residues, model] to the same shape.
  Tensor operator()(Context& context, const Tensor& x, const AlignmentGrid& grid) const;

 private:
  std::int32_t heads_;
  std::int64_t head_dim_;
  Linear query_, key_value_, gate_, output_;
};

}  // namespace headlight

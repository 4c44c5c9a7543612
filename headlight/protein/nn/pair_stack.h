// Implements triangle updates of the pair representation (Jumper et al., "Highly accurate protein structure prediction
// with AlphaFold", 2021, supplement, algorithms 11 to 15).
#pragma once

#include <cstdint>
#include <optional>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/ops/triangle_product.h"
#include "headlight/protein/nn/alignment_grid.h"
#include "headlight/protein/nn/gated_attention.h"

namespace headlight {

/// The axis that shares a dropout mask (supplement, section 1.11.6). `rows`: all first residues have the same mask.
/// `columns`: all second residues have the same mask.
enum class DropoutShared { rows, columns };

/// Applies dropout with a shared mask to a grid x [height * width, columns].
HEADLIGHT_API Tensor DropShared(Context& context, const Tensor& x, std::int64_t height, double probability,
                                DropoutShared shared);

/// Computes W_2 relu(W_1 LayerNorm(x)) (algorithms 9 and 15).
class HEADLIGHT_API Transition {
 public:
  /// Declares layer_norm, linear_1 and linear_2. The hidden layer has the width `times` * model.
  Transition(const Scope& scope, std::int64_t model, std::int64_t times);

  Tensor operator()(Context& context, const Tensor& x) const;  // maps [rows, model] to the same shape

 private:
  LayerNorm norm_;
  Linear inner_, outer_;
};

/// Implements algorithms 11 (outgoing edges) and 12 (incoming edges).
class HEADLIGHT_API TriangleMultiplication {
 public:
  /// Declares layer_norm_in, linear_a_p, linear_a_g, linear_b_p, linear_b_g, linear_g, layer_norm_out and linear_z.
  TriangleMultiplication(const Scope& scope, std::int64_t pair, std::int64_t channels, ops::Triangle triangle);

  Tensor operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid) const;

 private:
  ops::Triangle triangle_;
  LayerNorm norm_in_, norm_out_;
  Linear projections_, gate_, output_;
};

/// Implements algorithms 13 and 14. Around the starting node, pair (i, j) attends to the pairs (i, k), with the bias of
/// (j, k). Around the ending node, it attends to the pairs (k, j), with the bias of (k, i).
class HEADLIGHT_API TriangleAttention {
 public:
  enum class Node { starting, ending };

  /// Declares layer_norm, linear (the bias) and mha.
  TriangleAttention(const Scope& scope, std::int64_t pair, std::int32_t heads, std::int64_t head_dim, Node node);

  Tensor operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid) const;

 private:
  Node node_;
  LayerNorm norm_;
  Linear bias_;
  GatedAttention attention_;
};

struct PairStackConfig {
  std::int64_t pair = 128, channels = 128;  // the widths of a pair and of triangle multiplication
  std::int32_t heads = 4;
  std::int64_t head_dim = 32;
  std::int64_t transition = 4;  // the hidden width of the transition relative to `pair`
  double dropout = 0.25;
  bool attention_first = false;  // if true, attention precedes multiplication, as in algorithm 16
  bool triangles = true;         // if false, algorithms 11 to 14 are omitted, for ablation
};

/// Applies residual updates to the pairs: both triangle multiplications, both triangle attentions and a transition.
class HEADLIGHT_API PairStack {
 public:
  /// Declares tri_mul_out, tri_mul_in, tri_att_start and tri_att_end, unless they are omitted, and pair_transition.
  PairStack(const Scope& scope, const PairStackConfig& config);

  /// Maps `pair` [residues * residues, pair] to the same shape.
  Tensor operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid) const;

 private:
  struct Triangles {
    Triangles(const Scope& scope, const PairStackConfig& config);

    TriangleMultiplication outgoing, incoming;
    TriangleAttention starting, ending;
  };

  double dropout_;
  bool attention_first_;
  std::optional<Triangles> triangles_;
  Transition transition_;
};

}  // namespace headlight

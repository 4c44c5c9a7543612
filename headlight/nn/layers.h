// The basic layers of a Transformer: Linear, LayerNorm, RmsNorm, PostNorm, PreNorm, ParallelSublayers, FeedForward,
// GatedFeedForward, TokenEmbedding, PositionalEncoding, Embedding.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/gated_activation.h"
#include "headlight/ops/residual.h"

namespace headlight {

/// Initial values of a Linear's parameters.
struct LinearInitialization {
  Initialization weight = Initialization::XavierUniform();
  double bias = 0;
};

/// Computes y = x W^T + b.
class HEADLIGHT_API Linear {
 public:
  /// Declares name.weight [outputs, inputs] and name.bias [outputs] if `bias` is true. With several names, the tensors
  /// on disk are parts of a fused projection, in order. Tensor i has parts[i] outputs (default: equal parts). If
  /// `stored_transposed` is true, the weight on disk is [inputs, outputs].
  Linear(const Scope& scope, const std::vector<std::string>& names, std::int64_t inputs, std::int64_t outputs,
         bool bias = true, bool stored_transposed = false, const LinearInitialization& initialization = {},
         const std::vector<std::int64_t>& parts = {});

  /// Maps x [..., inputs] to [..., outputs].
  Tensor operator()(Context& context, const Tensor& x, Activation activation = Activation::none) const;

  Compute compute() const { return weight_->compute; }  ///< compute type of its matrix products

 private:
  const Parameter* weight_;
  const Parameter* bias_ = nullptr;  // null if there is no bias
};

/// Computes (x - mean) / sqrt(variance + epsilon) * gain + bias along the last axis (Ba et al., 2016).
class HEADLIGHT_API LayerNorm {
 public:
  /// Declares weight (the gain, initially 1) and bias (initially 0), both [model].
  LayerNorm(const Scope& scope, std::int64_t model, double epsilon = 1e-5);

  Tensor operator()(Context& context, const Tensor& x) const;  ///< maps x [..., model] to the same shape

  /// Computes LayerNorm(x + dropout(sublayer)), fused. This is the last step of a post-norm sublayer (Vaswani et al.,
  /// 2017, section 5.4).
  Tensor AfterResidual(Context& context, const Tensor& x, const Tensor& sublayer, double dropout) const;

 private:
  const Parameter* gain_;
  const Parameter* bias_;
  double epsilon_;
};

/// The gain of a norm, weight + offset. Gemma stores the gain minus 1.
class HEADLIGHT_API NormGain {
 public:
  /// Declares weight, [size]. The gain is initially 1.
  NormGain(const Scope& scope, std::int64_t size, double offset = 0);
  Tensor operator()(Context& context) const;

 private:
  const Parameter* weight_;
  double offset_;
};

/// Computes x / sqrt(mean of x^2 + epsilon) * gain along the last axis (Zhang and Sennrich, 2019).
class HEADLIGHT_API RmsNorm {
 public:
  /// Declares the weight [model] of NormGain.
  RmsNorm(const Scope& scope, std::int64_t model, double epsilon = 1e-6, double gain_offset = 0);

  Tensor operator()(Context& context, const Tensor& x) const;  ///< maps x [..., model] to the same shape

 private:
  NormGain gain_;
  double epsilon_;
};

/// Computes LayerNorm(x + dropout(sublayer(context, x))), a post-norm sublayer such as attention or a FeedForward
/// (Vaswani et al., 2017, section 5.4).
template <typename Sublayer>
Tensor PostNorm(Context& context, const Tensor& x, const LayerNorm& norm, double dropout, const Sublayer& sublayer) {
  return norm.AfterResidual(context, x, sublayer(context, x), dropout);
}

/// Computes x + dropout(sublayer(context, Norm(x))), a pre-norm sublayer (Xiong et al., "On Layer Normalization in the
/// Transformer Architecture", 2020).
template <typename Norm, typename Sublayer>
Tensor PreNorm(Context& context, const Tensor& x, const Norm& norm, double dropout, const Sublayer& sublayer) {
  const Tensor change = sublayer(context, norm(context, x));
  return ops::Residual(x, change, context.NextDropout(dropout));
}

/// Computes x + dropout(attention) + dropout(feed-forward). The sublayers are parallel. Their normalized inputs are
/// equal in GPT-J and separate in GPT-NeoX (Wang and Komatsuzaki, "GPT-J-6B: A 6 Billion Parameter Autoregressive
/// Language Model", 2021).
template <typename Attention, typename FeedForward>
Tensor ParallelSublayers(Context& context, const Tensor& x, const Tensor& attention_input, const Attention& attention,
                         const Tensor& feed_forward_input, const FeedForward& feed_forward, double dropout) {
  const Tensor attended = ops::Residual(x, attention(context, attention_input), context.NextDropout(dropout));
  return ops::Residual(attended, feed_forward(context, feed_forward_input), context.NextDropout(dropout));
}

/// Computes FFN(x) = activation(x W1 + b1) W2 + b2 (Vaswani et al., 2017, eq. 2) at every position. In the equation W1
/// is [model, ffn] and W2 is [ffn, model]. The stored weights are their transposes, as in a Linear.
class HEADLIGHT_API FeedForward {
 public:
  /// Declares names[0].weight [ffn, model], which is W1^T, and names[1].weight [model, ffn], which is W2^T, with biases
  /// if `biases` is true. If `stored_transposed` is true, the weights on disk are W1 and W2.
  FeedForward(const Scope& scope, std::int64_t model, std::int64_t ffn, Activation activation = Activation::relu,
              const std::array<std::string, 2>& names = {"fc1", "fc2"}, bool stored_transposed = false,
              bool biases = true);

  /// Maps [..., model] to the same shape.
  Tensor operator()(Context& context, const Tensor& x) const { return Outer(context, Inner(context, x)); }

  /// Compute the two halves of the network, so that a dropout can be applied between them. Inner maps [..., model] to
  /// [..., ffn], and Outer maps back.
  Tensor Inner(Context& context, const Tensor& x) const { return inner_(context, x, activation_); }
  Tensor Outer(Context& context, const Tensor& inner) const { return outer_(context, inner); }

 private:
  Linear inner_, outer_;
  Activation activation_;
};

struct GatedFeedForwardConfig {
  std::int64_t model = 512, ffn = 1376;
  Activation activation = Activation::silu;
  std::vector<std::string> inner = {"gate_proj", "up_proj"};  ///< names of W and V, or of a single tensor with both
  std::string outer = "down_proj";
  bool biases = false;
  ops::GateHalf gate = ops::GateHalf::first;
};

/// Computes FFN(x) = (activation(x W) * x V) W2 (Shazeer, "GLU Variants Improve Transformer", 2020, eq. 6). W and V are
/// one matrix in memory.
class HEADLIGHT_API GatedFeedForward {
 public:
  /// Declares W^T and V^T together, [2 * ffn, model], and W2^T, [model, ffn].
  GatedFeedForward(const Scope& scope, const GatedFeedForwardConfig& config);

  Tensor operator()(Context& context, const Tensor& x) const { return Outer(context, Inner(context, x)); }

  /// Compute the two halves of the network, so that a norm or a dropout can be applied between them. Inner maps
  /// [tokens, model] to [tokens, ffn], and Outer maps back.
  Tensor Inner(Context& context, const Tensor& x) const;
  Tensor Outer(Context& context, const Tensor& inner) const { return outer_(context, inner); }

 private:
  Activation activation_;
  ops::GateHalf gate_;
  Linear inner_, outer_;
};

/// A position vector that is added to the embedding of each token (Vaswani et al., 2017, section 3.5).
class HEADLIGHT_API PositionalEncoding {
 public:
  /// Returns the sines sin(p / 10000^(2i / model)), followed by the cosines, as in MarianMT. The paper interleaves
  /// sines and cosines, which differs only by a permutation of the model axis.
  static PositionalEncoding Sinusoidal(std::int64_t positions, std::int64_t model, DType dtype = DType::float32);
  /// Declares weight [first + positions, model]. Rows before `first` are unused. The default standard deviation of the
  /// initialization is 1 / sqrt(model), as for token embeddings. Larger values would dominate the token embeddings.
  static PositionalEncoding Learned(const Scope& scope, std::int64_t positions, std::int64_t model,
                                    std::int32_t first = 0, std::optional<double> deviation = {});

  std::int64_t positions() const;
  std::int32_t first() const { return first_; }  ///< the row of position 0
  Tensor Table(Context& context) const;          ///< [first + positions, model]

 private:
  Tensor sinusoids_;
  const Parameter* learned_ = nullptr;
  std::int32_t first_ = 0;
};

/// Token embeddings. In a model with tied embeddings, the table is also the output projection (Press and Wolf, "Using
/// the Output Embedding to Improve Language Models", 2017).
class HEADLIGHT_API TokenEmbedding {
 public:
  /// Declares weight [vocab, model]. `scores` must be true if Scores is used.
  TokenEmbedding(const Scope& scope, std::int64_t vocabulary, std::int64_t model, Initialization initialization,
                 bool scores);

  /// Maps ids [tokens] to [tokens, model]: dropout(scale * table[id] + position_table[position]). The position table
  /// may be empty. Throws Error for an id outside the vocabulary.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, double scale = 1,
                    const Tensor& position_table = {}, std::span<const std::int32_t> positions = {},
                    Dropout dropout = {}) const;
  /// Returns the logits hidden table^T + bias, [rows, vocab], of hidden [rows, model]. The bias may be empty.
  Tensor Scores(Context& context, const Tensor& hidden, const Tensor& bias) const;

  const Parameter& table() const { return *table_; }

 private:
  const Parameter* table_;
};

/// Computes dropout(norm(scale * table[id] + position)) (Vaswani et al., 2017, sections 3.4 and 5.4).
class HEADLIGHT_API Embedding {
 public:
  Embedding(const TokenEmbedding& tokens, double scale, PositionalEncoding positions, double dropout,
            std::optional<LayerNorm> norm = {});

  /// Maps ids [tokens] of the sequences to [tokens, model]. The position of a sequence's first token is
  /// `first_positions[sequence]`, or 0 if `first_positions` is empty. Throws Error for an id outside the vocabulary or
  /// a position outside the table.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                    std::span<const std::int32_t> first_positions = {}) const;

 private:
  TokenEmbedding tokens_;
  double scale_;
  PositionalEncoding positions_;
  double dropout_;
  std::optional<LayerNorm> norm_;
};

}  // namespace headlight

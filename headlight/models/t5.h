// T5 (Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", 2020), which
// is the Transformer with relative positions and RMS norms. T5 1.1 (Shazeer, "GLU Variants Improve Transformer", 2020),
// including Flan-T5, and mT5 (Xue et al., 2021) have gated feed-forward networks and a separate output table.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "headlight/base/export.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/relative_positions.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of T5-small.
struct T5Config {
  bool multilingual = false;  ///< if true, the model is mT5, which has the architecture of T5 1.1
  std::int64_t model = 512;
  int encoder_layers = 6, decoder_layers = 6;
  std::int32_t heads = 8;
  std::int64_t head_dim = 64;  ///< may differ from model / heads
  std::int64_t ffn = 2048;
  Activation activation = Activation::relu;
  bool gated = false;               ///< if true, feed-forward networks are gated
  std::int32_t buckets = 32;        ///< number of buckets of relative positions
  std::int32_t max_distance = 128;  ///< distances of at least this value share a bucket
  double dropout = 0.1;
  double norm_epsilon = 1e-6;
  bool tie_output = true;    ///< if true, the embedding table is also the output projection
  bool scale_output = true;  ///< if true, the decoder's states are multiplied by model^-0.5, as in T5 1.0
  std::int64_t vocabulary = 32128;
  std::int32_t start_id = 0, end_id = 1, pad_id = 0;
};
HEADLIGHT_API void Describe(ConfigTable& table, T5Config& config);

/// Computes activation(x W1) W2 or, with a gate, (activation(x W1) * x V) W2 (Shazeer, 2020, eq. 6).
class HEADLIGHT_API T5FeedForward {
 public:
  T5FeedForward(const Scope& scope, const T5Config& config);
  Tensor operator()(Context& context, const Tensor& x) const;  ///< maps [tokens, model] to [tokens, model]

 private:
  double dropout_;
  std::variant<FeedForward, GatedFeedForward> network_;
};

/// Computes x + Attention(norm(x)), then x + CrossAttention(norm(x), memory) in the decoder, then x +
/// FeedForward(norm(x)).
class HEADLIGHT_API T5Layer {
 public:
  T5Layer(const Scope& scope, const T5Config& config, int layer, bool decoder);
  /// Maps x [tokens, model] to [tokens, model]. `positions` is added to the scores of self-attention. `memory` is null
  /// in an encoder.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& sequences, const ops::AttentionBias& positions,
                    const Memory* memory) const;

 private:
  double dropout_;
  bool decoder_;
  MultiHeadAttention self_attention_;
  RmsNorm self_attention_norm_;
  std::optional<MultiHeadAttention> cross_attention_;
  std::optional<RmsNorm> cross_attention_norm_;
  T5FeedForward feed_forward_;
  RmsNorm feed_forward_norm_;
};

/// A stack of layers that share one table of relative positions, with a final norm.
class HEADLIGHT_API T5Stack {
 public:
  T5Stack(const Scope& scope, const T5Config& config, bool decoder);
  Tensor operator()(Context& context, const Tensor& embedded, const Sequences& sequences, const Memory* memory) const;

 private:
  double dropout_;
  std::deque<T5Layer> layers_;
  RelativePositions positions_;
  RmsNorm final_norm_;
};

class HEADLIGHT_API T5 : public EncoderDecoder {
 public:
  /// The maximum length of a text in tokens. T5 has no limit, but the time grows with the square of the length.
  /// Published models were trained on 512 tokens.
  static constexpr std::int64_t kLongest = 1 << 14;

  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit T5(const T5Config& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const override;
  /// Returns hidden states, multiplied by model^-0.5 if `scale_output` is true.
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                const Memory& memory) const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  const T5Config& config() const { return config_; }

 protected:
  Json::Object LayerSizes() const override;

 private:
  T5Config config_;
  std::optional<TokenEmbedding> tokens_;
  std::optional<T5Stack> encoder_, decoder_;
};

}  // namespace headlight

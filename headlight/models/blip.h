// BLIP (Li et al., "BLIP: Bootstrapping Language-Image Pre-training for Unified Vision-Language Understanding and
// Generation", 2022). A Vision Transformer encodes an image, and BERTs with cross-attention to the image encode or
// generate a text (figure 2).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/models/bert.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/image_embedding.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// captions: a decoder with cross-attention to the image. answers: an encoder of the question with cross-attention to
/// the image, and a decoder with cross-attention to the question (figure 5). matching: an encoder with an image-text
/// matching head, and embeddings of images and texts. vectors: only the embeddings, as in Transformers' BlipModel.
enum class BlipTask { captions, answers, matching, vectors };

/// The defaults are the settings of the paper's base model.
struct BlipVisionConfig {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu;
  double attention_dropout = 0;
  double norm_epsilon = 1e-5;
  Grid image = {384, 384}, patch = {16, 16};  ///< in pixels
};
struct BlipConfig {
  BlipTask task = BlipTask::captions;
  BlipVisionConfig vision;
  BertConfig text{.heads = 8, .dropout = 0, .attention_dropout = 0, .vocabulary = 30524, .types = 0, .scope = ""};
  std::int32_t start_id = 30522, end_id = 102;  ///< the first and last token of generated text
  std::int64_t vectors = 512, matching = 256;  ///< sizes of the embeddings for BlipTask::vectors and BlipTask::matching
};
HEADLIGHT_API void Describe(ConfigTable& table, BlipVisionConfig& config);
HEADLIGHT_API void Describe(ConfigTable& table, BlipConfig& config);

/// Computes x + Attention(LayerNorm(x)), then x + FeedForward(LayerNorm(x)).
class HEADLIGHT_API BlipVisionLayer {
 public:
  BlipVisionLayer(const Scope& scope, const BlipVisionConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x,
                    const Sequences& images) const;  ///< maps [tokens, model] to [tokens, model]

 private:
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

/// Computes y = LayerNorm(x + Attention(x)), then z = LayerNorm(y + CrossAttention(y)), then LayerNorm(z +
/// FeedForward(z)).
class HEADLIGHT_API BlipTextLayer {
 public:
  BlipTextLayer(const Scope& scope, const BlipConfig& config, bool writes, int layer);
  /// Maps [tokens, model] to [tokens, model]. Cross-attention is skipped if `memory` is null.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const Memory* memory) const;

 private:
  bool causal_;
  double dropout_;
  MultiHeadAttention attention_;
  LayerNorm attention_norm_;
  MultiHeadAttention cross_attention_;
  LayerNorm cross_attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

/// The embeddings and layers of a text encoder, or of a text decoder with causal attention.
class HEADLIGHT_API BlipText {
 public:
  BlipText(const Scope& scope, const BlipConfig& config, bool writes);
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                    const Memory* memory) const;
  const Parameter& table() const { return embeddings_.tokens().table(); }

 private:
  BertEmbeddings embeddings_;
  std::deque<BlipTextLayer> layers_;
};

class HEADLIGHT_API Blip : public CaptionModel {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Blip(const BlipConfig& config, DType dtype = DType::float32);

  EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const override;
  Tensor ReadTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                   const Memory* images) const override;
  Tensor MatchLogits(Context& context, const Tensor& states, const Sequences& texts) const override;
  Tensor ImageVectors(Context& context, const EncodedImages& encoded) const override;
  Tensor TextVectors(Context& context, const Tensor& states, const Sequences& texts) const override;
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                const Memory& memory) const override;

  const BlipConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override;

 private:
  BlipConfig config_;
  ImageEmbedding embedding_;
  std::deque<BlipVisionLayer> layers_;
  std::optional<LayerNorm> norm_;
  std::optional<BlipText> encoder_, decoder_;
  std::optional<Linear> output_dense_;  // layer before the decoder's output projection
  std::optional<LayerNorm> output_norm_;
  std::optional<Linear> match_, pooler_, image_vectors_, text_vectors_;
};

}  // namespace headlight

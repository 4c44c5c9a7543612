// DETR (Carion et al., "End-to-End Object Detection with Transformers", 2020): a convolutional backbone makes a map of
// an image, a Transformer's encoder reads its cells, and its decoder turns learned queries into boxes with classes,
// all at once.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/resnet.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/mask_head.h"

namespace headlight {

class ConfigTable;  // io/config_table.h

// The defaults are the paper's, with ResNet-50.
struct DetrConfig {
  ResnetConfig backbone;
  // The name of the backbone in timm, whose names its parameters then have; empty: `backbone` is described in full.
  std::string timm_backbone = {};
  // In training the backbone's norms keep their statistics, as they come from a classifier; those of a backbone that is
  // trained from scratch follow the batch. No file says so.
  BatchStatistics backbone_statistics = BatchStatistics::frozen;
  std::int64_t model = 256;
  int encoder_layers = 6, decoder_layers = 6;
  std::int32_t encoder_heads = 8, decoder_heads = 8;
  std::int64_t encoder_ffn = 2048, decoder_ffn = 2048;
  Activation activation = Activation::relu;
  double dropout = 0.1, attention_dropout = 0;
  std::int64_t queries = 100;
  bool learned_positions = false;  // of the map's cells, up to 50 rows and columns; else sines
  std::string position_scope =
      "model.position_embedding";  // of learned ones, which published checkpoints name in two ways
  // The decoder's norm after each of its layers, beside the one at the end: as Transformers computes a model whose
  // `auxiliary_loss` is true. The paper's layers do not see the norm of the ones before.
  bool norm_between_layers = false;
  DetectionLossOptions loss;
  bool masks = false;  // a mask of each query, too, which needs a backbone of four stages
  std::vector<std::string> labels = {};
};
HEADLIGHT_API void Describe(ConfigTable& table, DetrConfig& config);

// Attention whose positions are added to queries and keys, and not to values (section A.3).
class DetrAttention {
 public:
  DetrAttention(const Scope& scope, const DetrConfig& config, std::int32_t heads, AttentionKind kind, int layer);
  // [rows, model] each; key and value have the same rows.
  Tensor operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Sequences& queries, const Sequences& keys) const;

 private:
  std::int32_t heads_;
  double dropout_;
  AttentionKind kind_;
  int layer_;
  Linear query_, key_, value_, output_;
};

class DetrEncoderLayer {
 public:
  DetrEncoderLayer(const Scope& scope, const DetrConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Tensor& positions, const Sequences& images) const;

 private:
  double dropout_;
  DetrAttention self_attention_;
  LayerNorm self_attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

// The encoder's states of the cells, alone and with their positions.
struct DetrMemory {
  Tensor rows, positioned;  // [cells, model]
  Sequences images;
};

class DetrDecoderLayer {
 public:
  DetrDecoderLayer(const Scope& scope, const DetrConfig& config, int layer);
  // x and the queries' positions [images * queries, model] to the same.
  Tensor operator()(Context& context, const Tensor& x, const Tensor& positions, const Sequences& queries,
                    const DetrMemory& memory) const;

 private:
  double dropout_;
  DetrAttention self_attention_;
  LayerNorm self_attention_norm_;
  DetrAttention cross_attention_;
  LayerNorm cross_attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

class HEADLIGHT_API Detr : public DetectionModel {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or LoadModel. Throws Error naming the
  // hyperparameter and the rule where there can be no such model.
  explicit Detr(const DetrConfig& config, DType dtype = DType::float32);

  DetectedImages Detect(Context& context, std::span<const Tensor> images, std::span<const PixelMask> masks = {},
                        bool all_layers = false) const override;
  QueryAnswers Answer(Context& context, const Tensor& states) const override;
  ops::FeatureMaps Masks(Context& context, const DetectedImages& found,
                         std::span<const std::int32_t> queries) const override;
  const DetectionLossOptions& loss() const override { return config_.loss; }

  const DetrConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfEncoderAndDecoder(config_); }

 private:
  Tensor CellPositions(Context& context, const DetectedImages& images) const;

  DetrConfig config_;
  ResnetBackbone backbone_;
  const Parameter *projection_weight_, *projection_bias_;
  const Parameter *rows_ = nullptr, *columns_ = nullptr;  // learned positions
  const Parameter* queries_;
  std::deque<DetrEncoderLayer> encoder_;
  std::deque<DetrDecoderLayer> decoder_;
  std::optional<LayerNorm> decoder_norm_;
  std::optional<Linear> classes_;
  std::vector<Linear> boxes_;
  std::optional<MaskHead> masks_;
};

// The detector of a model, without masks: a head for other classes, and another number of queries, are initialised by
// the seed.
HEADLIGHT_API std::unique_ptr<Detr> Refit(const Detr& model, const std::vector<std::string>& labels,
                                          std::int64_t queries, std::uint64_t seed);

}  // namespace headlight

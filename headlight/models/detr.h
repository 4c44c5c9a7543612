// DETR (Carion et al., "End-to-End Object Detection with Transformers", 2020). A convolutional backbone computes the
// feature map of an image, and a Transformer encoder processes its cells. A decoder transforms learned object queries
// in parallel into boxes with classes.
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

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the paper with ResNet-50.
struct DetrConfig {
  ResnetConfig backbone;
  /// The name of the backbone in timm, which also selects timm's parameter names. If empty, `backbone` has the full
  /// description.
  std::string timm_backbone = {};
  /// How the backbone's batch norms compute statistics in training. A pretrained backbone keeps its statistics. A
  /// backbone that is trained from scratch uses the statistics of the batch. This setting is not saved.
  BatchStatistics backbone_statistics = BatchStatistics::frozen;
  std::int64_t model = 256;
  int encoder_layers = 6, decoder_layers = 6;
  std::int32_t encoder_heads = 8, decoder_heads = 8;
  std::int64_t encoder_ffn = 2048, decoder_ffn = 2048;
  Activation activation = Activation::relu;
  double dropout = 0.1, attention_dropout = 0;
  std::int64_t queries = 100;
  bool learned_positions =
      false;  ///< if true, cells have learned positional embeddings, up to 50 rows and columns, instead of sines
  std::string position_scope =
      "model.position_embedding";  ///< prefix of the learned positional embeddings; published checkpoints differ
  /// If true, the decoder's final norm is also applied after each of its layers. Transformers does so if
  /// `auxiliary_loss` is true. In the paper, the next layer's input is not normalized.
  bool norm_between_layers = false;
  DetectionLossOptions loss;
  bool masks = false;  ///< if true, there is a mask head, which needs a backbone of four stages
  std::vector<std::string> labels = {};
};
HEADLIGHT_API void Describe(ConfigTable& table, DetrConfig& config);

/// Attention with positional embeddings, which are added to queries and keys but not to values (section A.3).
class DetrAttention {
 public:
  DetrAttention(const Scope& scope, const DetrConfig& config, std::int32_t heads, AttentionKind kind, int layer);
  /// Computes attention for `query`, `key` and `value` [rows, model]. Key and value have the same number of rows.
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

/// The encoder's states of the cells, without and with positional embeddings.
struct DetrMemory {
  Tensor rows, positioned;  ///< [cells, model]
  Sequences images;
};

class DetrDecoderLayer {
 public:
  DetrDecoderLayer(const Scope& scope, const DetrConfig& config, int layer);
  /// Maps x to [images * queries, model]. `positions` has the queries' positional embeddings. Both inputs are [images *
  /// queries, model].
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
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
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
  const Parameter *rows_ = nullptr, *columns_ = nullptr;  // learned positional embeddings
  const Parameter* queries_;
  std::deque<DetrEncoderLayer> encoder_;
  std::deque<DetrDecoderLayer> decoder_;
  std::optional<LayerNorm> decoder_norm_;
  std::optional<Linear> classes_;
  std::vector<Linear> boxes_;
  std::optional<MaskHead> masks_;
};

/// Returns a detector without masks, with the parameters of `model`. If the classes or the number of queries differ,
/// their parameters are initialized with the seed.
HEADLIGHT_API std::unique_ptr<Detr> Refit(const Detr& model, const std::vector<std::string>& labels,
                                          std::int64_t queries, std::uint64_t seed);

}  // namespace headlight

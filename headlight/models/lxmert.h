// LXMERT (Tan and Bansal, "LXMERT: Learning Cross-Modality Encoder Representations from Transformers", 2019). It has a
// text encoder, an encoder of image regions, and cross-modality layers in which text and regions attend to each other.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/bert.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the paper's settings.
struct LxmertConfig {
  BertConfig bert{.layers = 9, .on_top = {}, .scope = "lxmert"};  ///< the text encoder; all layers have these sizes
  int image_layers = 5, cross_layers = 5;
  std::int64_t features = 2048, box_numbers = 4;  ///< numbers of features and box coordinates of a region
  std::int64_t objects = 1600, attributes = 400;  ///< numbers of object and attribute classes
  std::int64_t answers = 9500;
  bool pretraining =
      false;  ///< if true, the model has heads for masked words and alignment, and the region heads below
  bool answers_in_pretraining = true, regions_in_pretraining = true;
  bool object_head = true, attribute_head = true, feature_head = true;  ///< the heads for regions
  std::vector<std::string> labels = {};  ///< the labels of the answer head; empty if there is no such head
};
HEADLIGHT_API void Describe(ConfigTable& table, LxmertConfig& config);

/// A cross-modality layer (section 2.2, figure 2). Each stream attends to the other stream with shared projections,
/// then to itself. Each stream then has a feed-forward network.
class LxmertCrossLayer {
 public:
  LxmertCrossLayer(const Scope& scope, const LxmertConfig& config, int layer);
  void operator()(Context& context, EncodedPairs& states) const;

 private:
  std::int32_t heads_;
  double dropout_, attention_dropout_;
  int layer_;
  Linear query_key_value_;  // [rows, 3 * model]
  Linear output_;
  LayerNorm norm_;
  EncoderLayer text_, image_;
};

class HEADLIGHT_API Lxmert : public RegionTextEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Lxmert(const LxmertConfig& config, DType dtype = DType::float32);

  /// Encodes pairs. A region's box is its left, top, right and bottom, as fractions of the image's width and height.
  EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                      const Sequences& texts, const Regions& regions,
                      std::span<const std::int32_t> tasks = {}) const override;
  Tensor Pool(Context& context, const EncodedPairs& encoded) const override;  ///< tanh(W x + b) of each first state x
  Tensor RegionLogits(Context& context, const Tensor& regions) const override;
  Tensor AlignmentLogits(Context& context, const Tensor& pooled) const override;
  Tensor AnswerLogits(Context& context, const Tensor& pooled) const override;
  /// Returns the predictions of the model's region heads under Transformers' names: obj, attr and feat. obj is the
  /// result of RegionLogits.
  std::vector<std::pair<std::string, Tensor>> RegionPredictions(Context& context, const Tensor& regions) const;

  const LxmertConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const override;

 protected:
  Json::Object LayerSizes() const override;
  const TensorNames& tensor_names() const override;
  std::vector<OtherOutput> OtherOutputs(Context& context, const EncodedPairs& encoded,
                                        const Tensor& pooled) const override;

 private:
  struct RegionHead {
    Linear dense;
    LayerNorm norm;
    std::vector<std::pair<std::string, Linear>> outputs;
  };

  LxmertConfig config_;
  BertEmbeddings embeddings_;
  Linear region_features_;
  LayerNorm region_features_norm_;
  Linear region_boxes_;
  LayerNorm region_boxes_norm_;
  std::deque<EncoderLayer> text_layers_, image_layers_;
  std::deque<LxmertCrossLayer> cross_layers_;
  Linear pooler_;
  std::optional<RegionHead> region_head_;
  std::optional<Linear> alignment_;
  std::optional<AnswerHead> answers_;
};

}  // namespace headlight

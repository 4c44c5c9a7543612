// VisualBERT (Li et al., "VisualBERT: A Simple and Performant Baseline for Vision and Language", 2019) is one BERT over
// a single sequence of a text's tokens and an image's regions.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/bert.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The task heads. pretraining: heads for masked words and alignment. answers: classification from the state of a
/// question's second-to-last token, as in the authors' code. reasoning: classification from the pooled state.
enum class VisualBertTask { none, pretraining, answers, reasoning };

/// The defaults are the same as in Transformers.
struct VisualBertConfig {
  VisualBertTask task = VisualBertTask::none;
  BertConfig bert{.pad_id = 1, .on_top = {}, .scope = "visual_bert"};
  std::int64_t features = 512;           ///< number of input features of a region
  std::vector<std::string> labels = {};  ///< labels for answers and reasoning
};
HEADLIGHT_API void Describe(ConfigTable& table, VisualBertConfig& config);

class HEADLIGHT_API VisualBert : public RegionTextEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit VisualBert(const VisualBertConfig& config, DType dtype = DType::float32);

  /// Encodes pairs. The boxes of regions are not used.
  EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                      const Sequences& texts, const Regions& regions,
                      std::span<const std::int32_t> tasks = {}) const override;
  /// Returns tanh(W x + b) of the text's first state x. For VisualBertTask::answers, returns the state of the text's
  /// second-to-last token, and throws Error if a text has fewer than two tokens.
  Tensor Pool(Context& context, const EncodedPairs& encoded) const override;
  Tensor RegionLogits(Context& context, const Tensor& regions) const override;
  Tensor AlignmentLogits(Context& context, const Tensor& pooled) const override;
  Tensor AnswerLogits(Context& context, const Tensor& pooled) const override;

  const VisualBertConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfBert(config_.bert); }
  const TensorNames& tensor_names() const override;

 private:
  VisualBertConfig config_;
  BertEmbeddings embeddings_;
  Linear region_features_;
  const Parameter *region_types_, *region_positions_;
  std::deque<EncoderLayer> layers_;
  Linear pooler_;
  std::optional<Linear> alignment_, answers_;
};

}  // namespace headlight

// ViLT (Kim et al., "ViLT: Vision-and-Language Transformer Without Convolution or Region Supervision", 2021) is one
// Vision Transformer over a single sequence of a text's tokens and an image's patches.
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
#include "headlight/models/vit.h"
#include "headlight/nn/image_embedding.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The task of the head. masked_words: masked language modeling. answers: classification of questions. ranking: a
/// score of how well a text matches an image.
enum class ViltTask { none, masked_words, answers, ranking };

/// The defaults are the paper's settings.
struct ViltConfig {
  ViltTask task = ViltTask::none;
  VitConfig vit{.image = {384, 384}, .patch = {32, 32}, .scope = "vilt"};
  std::int64_t vocabulary = 30522, positions = 40, types = 2;  ///< sizes of the text embeddings
  std::int64_t modalities = 2;                                 ///< number of modality types (text, image)
  std::vector<std::string> labels = {};                        ///< the labels of the answer head
};
HEADLIGHT_API void Describe(ConfigTable& table, ViltConfig& config);

class HEADLIGHT_API Vilt : public RegionTextEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Vilt(const ViltConfig& config, DType dtype = DType::float32);

  /// Encodes pairs. `regions` must come from PatchRegions. An image's states begin with the state of its class token.
  /// Also throws Error if the patches do not form a grid.
  EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                      const Sequences& texts, const Regions& regions,
                      std::span<const std::int32_t> tasks = {}) const override;
  Tensor Pool(Context& context, const EncodedPairs& encoded) const override;  ///< tanh(W x + b) of each first state x
  Tensor RegionLogits(Context& context, const Tensor& regions) const override;
  Tensor AlignmentLogits(Context& context, const Tensor& pooled) const override;
  Tensor AnswerLogits(Context& context, const Tensor& pooled) const override;
  /// Returns a score of how well each text matches its image, [pairs, 1]. Throws Error if the model has no such head.
  Tensor RankScores(Context& context, const Tensor& pooled) const;

  const ViltConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const override;

 protected:
  Json::Object LayerSizes() const override;
  const TensorNames& tensor_names() const override;
  std::vector<OtherOutput> OtherOutputs(Context& context, const EncodedPairs& encoded,
                                        const Tensor& pooled) const override;

 private:
  // The answer head, W2 gelu(LayerNorm(W1 x + b1)) + b2.
  struct Answers {
    Linear inner;
    LayerNorm norm;
    Linear outer;
  };

  ViltConfig config_;
  BertEmbeddings text_embeddings_;
  ImageEmbedding image_embedding_;
  const Parameter* modalities_;
  std::deque<VitLayer> layers_;
  LayerNorm norm_;
  Linear pooler_;
  std::optional<Answers> answers_;
  std::optional<Linear> rank_;
};

}  // namespace headlight

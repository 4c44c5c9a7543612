// DeBERTa (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2021): a BERT in which
// content and position of a token have vectors of their own. models/deberta_v2.h has its versions 2 and 3.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/models/bert.h"
#include "headlight/models/files/model_files.h"
#include "headlight/nn/disentangled_attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/text_encoder.h"

namespace headlight {

// The defaults are the paper's DeBERTa-base.
struct DebertaConfig {
  // The settings that BERT has, too; there may be no segment types.
  BertConfig bert = {.norm_epsilon = 1e-7, .vocabulary = 50265, .types = 0, .on_top = {}, .scope = "deberta"};
  bool absolute_positions = false;  // added to the embeddings, as in BERT
  bool relative_positions = true;
  bool content_to_position = true, position_to_content = true;
  std::int64_t farthest = 512;    // distances from here on share one vector
  bool own_masked_words = false;  // the masked-word head has DeBERTa's names, not BERT's
  double pooler_dropout = 0;      // of the pooler of sequence classification
  Activation pooler_activation = Activation::gelu;
};
HEADLIGHT_API void Describe(ConfigTable& table, DebertaConfig& config);

// Shared by both layouts: the sum of embeddings, the rest of a layer after attention, the heads, and config.json.
class HEADLIGHT_API DebertaEmbeddings {
 public:
  DebertaEmbeddings(const Scope& scope, const DebertaConfig& config);
  // As TextEncoder::Encode, before the first layer.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                    const Sequences& texts, std::span<const std::int32_t> first_positions) const;
  const TokenEmbedding& tokens() const { return tokens_; }

 private:
  double dropout_;
  TokenEmbedding tokens_;
  const Parameter *positions_ = nullptr, *types_ = nullptr;
  std::int64_t longest_;
  LayerNorm norm_;
};

// From the heads' outputs of attention: LayerNorm(x + W heads), then LayerNorm(x + FeedForward(x)).
class HEADLIGHT_API DebertaSublayers {
 public:
  DebertaSublayers(const Scope& scope, const DebertaConfig& config);
  Tensor operator()(Context& context, const Tensor& x, const Tensor& heads) const;

 private:
  double dropout_;
  Linear output_;
  LayerNorm attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

TextHeadsLayout DebertaHeads(const DebertaConfig& config, const std::string& family);
void DescribeDeberta(ConfigTable& table, DebertaConfig& config);  // all but the model type
// The part of the configuration that follows from the tensors in the file: scope and heads.
void ReadDeberta(const ModelFolder& files, DebertaConfig& config);
OtherTensors OtherDebertaTensors(const DebertaConfig& config);

class HEADLIGHT_API DebertaLayer {
 public:
  DebertaLayer(const Scope& scope, const DebertaConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const RelativeVectors& relative) const;

 private:
  DisentangledAttention attention_;
  double dropout_;
  Linear query_key_value_;
  const Parameter *query_bias_, *value_bias_;
  std::optional<Linear> relative_key_, relative_query_;
  DebertaSublayers sublayers_;
};

class HEADLIGHT_API Deberta : public TextEncoder {
 public:
  explicit Deberta(const DebertaConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const override;

  const DebertaConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const override;

 private:
  DebertaConfig config_;
  DebertaEmbeddings embeddings_;
  std::deque<DebertaLayer> layers_;
  const Parameter* relative_ = nullptr;
};

}  // namespace headlight

// BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019): the
// Transformer's encoder, in which every word sees those on both sides, and what stands on it.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/context.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/text_encoder.h"

namespace headlight {

// The paper's BERT-base unless told otherwise.
struct BertConfig {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu;
  double dropout = 0.1;                           // of embeddings and sublayers
  double attention_dropout = 0.1;                 // of attention weights
  std::optional<double> classifier_dropout = {};  // of what classes are told from; as `dropout` unless given
  double norm_epsilon = 1e-12;
  std::int64_t vocabulary = 30522;
  std::int64_t positions = 512;
  std::int64_t types = 2;  // of segments: first text, second text
  std::int32_t pad_id = 0;
  TextHeadsConfig on_top = {.pooler = true};  // what stands on the encoder
  std::string scope = "bert";                 // of the encoder's names; empty where a checkpoint holds nothing else
};

// Throws Error naming the hyperparameter and the rule where no such model can be.
HEADLIGHT_API void CheckConfig(const BertConfig& config);

// config.json's keys for all but what stands on the encoder, read and written: `config` says what is meant where a key
// is missing. As RoBERTa and DeBERTa have them too.
void ReadBertSettings(const JsonView& json, BertConfig& config, std::initializer_list<std::string_view> harmless);
Json BertSettings(const BertConfig& config, std::string_view model_type);

// LayerNorm(x + Attention(x)), then LayerNorm(x + FeedForward(x)): the Transformer's layer under BERT's names.
class HEADLIGHT_API BertLayer {
 public:
  BertLayer(const Scope& scope, const BertConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts) const;  // [tokens, model] to the same

 private:
  double dropout_;
  MultiHeadAttention attention_;
  LayerNorm attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

// The sum of three embeddings, normalized, and the layers.
class HEADLIGHT_API BertEncoder {
 public:
  BertEncoder(const Scope& scope, const BertConfig& config);
  // As TextEncoder::Encode.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                    const Sequences& texts, std::span<const std::int32_t> first_positions) const;
  const Parameter& words() const { return *words_; }

 private:
  double dropout_;
  const Parameter *words_, *types_;
  std::optional<Embedding> embedding_;
  std::optional<LayerNorm> embedding_norm_;
  std::deque<BertLayer> layers_;
};

class HEADLIGHT_API Bert : public TextEncoder {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or Load.
  explicit Bert(const BertConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const override {
    return encoder_(context, ids, types, texts, first_positions);
  }

  const BertConfig& config() const { return config_; }
  const Limits& limits() const override { return limits_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const override;

 private:
  BertConfig config_;
  Limits limits_;
  BertEncoder encoder_;
};

}  // namespace headlight

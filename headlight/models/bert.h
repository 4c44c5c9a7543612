// BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019): the
// Transformer's encoder, in which every token attends to both sides, and its heads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/files/model_files.h"
#include "headlight/nn/context.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

class ConfigTable;  // io/config_table.h

// The defaults are the paper's BERT-base.
struct BertConfig {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu;
  double dropout = 0.1;                           // of embeddings and sublayers
  double attention_dropout = 0.1;                 // of attention weights
  std::optional<double> classifier_dropout = {};  // of the input of the classifier; `dropout` unless given
  double norm_epsilon = 1e-12;
  std::int64_t vocabulary = 30522;
  std::int64_t positions = 512;
  std::int64_t types = 2;  // of segments: first text, second text
  std::int32_t pad_id = 0;
  TextHeadsConfig on_top = {.pooler = true};  // the heads
  std::string scope = "bert";                 // of the encoder's names; empty in checkpoints of the encoder alone
};
HEADLIGHT_API void Describe(ConfigTable& table, BertConfig& config);
// All but the model type, which RoBERTa and DeBERTa share.
void DescribeBert(ConfigTable& table, BertConfig& config);

/// Of its layers, with the number of segment types, of a model that reads these.
HEADLIGHT_API Json::Object SizesOfBert(const BertConfig& config);

// `tie_word_embeddings`: a model that scores all tokens does so by their embeddings. Other models read no output table.
void DescribeOutputTable(ConfigTable& table, bool scores_tokens);

// As LoadWeights. Early checkpoints name a norm's gain and bias gamma and beta, as Transformers 5 does again of ESM.
void LoadBertWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                     const OtherTensors& others);

// The sum of three embeddings, normalized (figure 2). Segments are left out where there are no types of them, and
// positions where the model has none.
class HEADLIGHT_API BertEmbeddings {
 public:
  BertEmbeddings(const Scope& scope, const BertConfig& config, bool positions = true);
  // As TextEncoder::Encode, before the first layer.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                    const Sequences& texts, std::span<const std::int32_t> first_positions) const;
  const TokenEmbedding& tokens() const { return tokens_; }
  const LayerNorm& norm() const { return norm_; }

 private:
  double dropout_;
  std::int64_t longest_;
  TokenEmbedding tokens_;
  const Parameter *positions_, *types_;
  LayerNorm norm_;
};

// The layers of BERT (section 3), which the families that read images beside texts have, too.
TransformerLayerConfig BertLayerOf(const BertConfig& config);

// The embeddings and the Transformer's layers (section 3).
class HEADLIGHT_API BertEncoder {
 public:
  // With the names of a variant's layers, where they are not BERT's.
  BertEncoder(const Scope& scope, const BertConfig& config, const std::optional<EncoderLayerNames>& names = {});
  // As TextEncoder::Encode.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                    const Sequences& texts, std::span<const std::int32_t> first_positions) const;
  const TokenEmbedding& tokens() const { return embeddings_.tokens(); }

 private:
  BertEmbeddings embeddings_;
  std::deque<EncoderLayer> layers_;
};

class HEADLIGHT_API Bert : public TextEncoder {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or LoadModel. Throws Error naming the
  // hyperparameter and the rule where there can be no such model.
  explicit Bert(const BertConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const override {
    return encoder_(context, ids, types, texts, first_positions);
  }

  const BertConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfBert(config_); }

 private:
  BertConfig config_;
  BertEncoder encoder_;
};

}  // namespace headlight

// BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019): the
// Transformer's encoder with bidirectional attention, and its heads.
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

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the paper's BERT-base.
struct BertConfig {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu;
  double dropout = 0.1;                           ///< dropout rate of embeddings and sublayers
  double attention_dropout = 0.1;                 ///< dropout rate of the attention weights
  std::optional<double> classifier_dropout = {};  ///< dropout rate of the classifier's input; default: `dropout`
  double norm_epsilon = 1e-12;
  std::int64_t vocabulary = 30522;
  std::int64_t positions = 512;
  std::int64_t types = 2;  ///< number of segment types (first text, second text)
  std::int32_t pad_id = 0;
  TextHeadsConfig on_top = {.pooler = true};  ///< the task heads
  std::string scope = "bert";  ///< prefix of the encoder's parameter names; empty in checkpoints of the encoder only
};
HEADLIGHT_API void Describe(ConfigTable& table, BertConfig& config);
/// Describes all settings that BERT shares with RoBERTa and DeBERTa. The model type is not included.
void DescribeBert(ConfigTable& table, BertConfig& config);

/// Returns the sizes of the layers and the number of segment types, for descriptions of BERT variants.
HEADLIGHT_API Json::Object SizesOfBert(const BertConfig& config);

/// Describes `tie_word_embeddings`. It must be true for a model that predicts tokens. It has no effect in other models.
void DescribeOutputTable(ConfigTable& table, bool scores_tokens);

/// Loads weights like LoadWeights, but also accepts the LayerNorm parameter names gamma and beta. Early checkpoints and
/// Transformers 5 (for ESM) use them.
void LoadBertWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                     const OtherTensors& others);

/// Computes the normalized sum of the token, position and segment embeddings (figure 2). Segment embeddings are omitted
/// if `types` is 0, and positional embeddings if the model has none.
class HEADLIGHT_API BertEmbeddings {
 public:
  BertEmbeddings(const Scope& scope, const BertConfig& config, bool positions = true);
  /// Returns the input of the first layer. See TextEncoder::Encode for the arguments.
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

/// Returns the configuration of BERT's layers (section 3). Vision-language variants use it too.
TransformerLayerConfig BertLayerOf(const BertConfig& config);

/// The embeddings and the Transformer layers (section 3).
class HEADLIGHT_API BertEncoder {
 public:
  /// `names` are the parameter names of a variant's layers, if they differ from BERT's.
  BertEncoder(const Scope& scope, const BertConfig& config, const std::optional<EncoderLayerNames>& names = {});
  /// Encodes texts (see TextEncoder::Encode).
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                    const Sequences& texts, std::span<const std::int32_t> first_positions) const;
  const TokenEmbedding& tokens() const { return embeddings_.tokens(); }

 private:
  BertEmbeddings embeddings_;
  std::deque<EncoderLayer> layers_;
};

class HEADLIGHT_API Bert : public TextEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
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

// Code shared by the decoders of Llama and its descendants, mixtures of experts, OLMo 2, Gemma, GPT-NeoX, BLOOM and
// Falcon. Their configs have the same member names as LlamaConfig.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/models/files/rotary_settings.h"
#include "headlight/models/files/token_ids.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

/// The values of missing keys in a family. If key_heads is 0, num_key_value_heads is the number of heads. If head_dim
/// is 0, it is the model dimension divided by the number of heads.
struct HeadDefaults {
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;
};

/// Describes the layers, heads and feed-forward network. If num_key_value_heads is null, it is the number of heads.
template <typename Config>
void DescribeStack(ConfigTable& table, Config& config, const HeadDefaults& missing = {}) {
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Size("num_attention_heads", config.heads, "the number of heads");
  const bool without_key_heads = table.reads() && table.json().value().Find("num_key_value_heads") == nullptr;
  table.Default(config.key_heads, without_key_heads && missing.key_heads > 0 ? missing.key_heads : config.heads);
  std::int32_t key_heads = config.KeyHeads();
  table.Size("num_key_value_heads", key_heads, "the number of key heads");
  config.key_heads = key_heads;
  table.Rule(config.heads % std::max(1, key_heads) == 0,
             "the number of heads must be a multiple of the number of key heads: {} key heads, {} heads", key_heads,
             config.heads);
  table.Rule(config.head_dim > 0 || config.model % std::max(1, config.heads) == 0,
             "the number of heads must divide the model dimension: {} does not divide {}", config.heads, config.model);
  table.Default(config.head_dim, missing.head_dim > 0 ? missing.head_dim : config.model / std::max(1, config.heads));
  std::int64_t head_dim = config.HeadDim();
  table.Size("head_dim", head_dim, "a head's dimension");
  config.head_dim = head_dim;
  table.Rule(config.heads * head_dim <= kLargestSize, "the heads' dimensions together must be at most {}, not {}",
             kLargestSize, config.heads * head_dim);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Probability("attention_dropout", config.attention_dropout);
}

/// Returns the name under which a file has a setting with two names, or `key` if the file has neither. Throws Error if
/// both are present and differ.
inline const char* KeyOf(ConfigTable& table, const char* key, const char* other) {
  if (!table.reads()) return key;
  const Json *const given = table.json().value().Find(key), *const given_other = table.json().value().Find(other);
  Check(given == nullptr || given_other == nullptr || *given == *given_other, "{}: contradicts {}",
        table.json()[other].location(), key);
  table.Harmless({other});
  return given == nullptr && given_other != nullptr ? other : key;
}

/// Describes the vocabulary, positions and special tokens.
template <typename Config>
void DescribeTokens(ConfigTable& table, Config& config, const char* positions_key = "max_position_embeddings") {
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size(positions_key, config.positions, "the number of positions");
  if (table.reads()) {
    config.begin_id = ReadTokenId(table.json(), "bos_token_id", config.begin_id, config.vocabulary);
    config.pad_id = ReadTokenId(table.json(), "pad_token_id", config.pad_id, config.vocabulary);
  }
  table.Note("bos_token_id", WriteTokenId(config.begin_id));
  DescribeEndTokens(table, config);
  table.Note("pad_token_id", WriteTokenId(config.pad_id));
  table.Flag("tie_word_embeddings", config.tie_output);
}

/// Sets the sizes of a model that is trained from scratch.
template <typename Config>
void SetSizes(Config& config, const LanguageModelSizes& sizes) {
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.key_heads = sizes.key_heads;
  config.head_dim = 0;
  config.ffn = sizes.ffn;
  config.attention_dropout = sizes.attention_dropout;
  config.vocabulary = sizes.vocabulary;
  config.positions = sizes.positions;
  config.begin_id = sizes.begin_id;
  config.end_id = sizes.end_id;
  config.pad_id = -1;
  config.tie_output = true;
}

/// Describes how a family with gated feed-forward networks is trained from scratch. Because a gate adds a third matrix,
/// the paper uses "a dimension of 2/3 4d instead of 4d" (LLaMA, section 2.2).
inline NewLanguageModel GatedFromScratch(std::string_view name,
                                         std::unique_ptr<LanguageModel> (*make)(const LanguageModelSizes&)) {
  return {.name = name, .make = make, .dropout = false, .grouped_keys = true, .ffn_of_model = 8.0 / 3, .ffn_step = 32};
}

/// Returns the attention settings that all these decoders share.
template <typename Config>
MultiHeadAttentionConfig RotaryAttentionOf(const Config& config) {
  return {.model = config.model,
          .heads = config.heads,
          .key_heads = config.key_heads,
          .head_dim = config.head_dim,
          .dropout = config.attention_dropout,
          .names = {.output = "o_proj"},
          .biases = config.attention_biases};
}

/// Throws Error for a text that has more tokens than the model has positions.
inline void CheckLengths(const Sequences& texts, std::span<const std::int32_t> first_positions,
                         std::int64_t positions) {
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int64_t end = texts[text].length + std::int64_t{first_positions.empty() ? 0 : first_positions[text]};
    Check(end <= positions, "a text of {} tokens is longer than the model's {} positions", end, positions);
  }
}

/// The names of a decoder's modules in a checkpoint. `scope` is the prefix of all names except `output`, and may be
/// empty.
struct DecoderNames {
  std::string scope = "model", tokens = "embed_tokens", layers = "layers", norm = "norm", output = "lm_head";
};

/// Returns `config.names` if the config has this member, and Llama's names otherwise.
template <typename Config>
DecoderNames NamesOf(const Config& config) {
  if constexpr (requires { config.names; })
    return config.names;
  else
    return {.scope = config.scope};
}

/// A stack of decoder layers: the token table, the layers, a final norm, and the output projection, which may be the
/// token table.
template <typename Config, typename Layer, typename Norm>
class DecoderStack : public LanguageModel {
 public:
  const Config& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override {
    SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
  }

 protected:
  /// `residual_layers` and `outputs` are passed to InitializeAsGpt. `norm_options` are passed to the final norm, after
  /// epsilon.
  template <typename... NormOptions>
  DecoderStack(const Config& config, int residual_layers, std::initializer_list<const char*> outputs,
               NormOptions... norm_options)
      : LanguageModel(DType::float32), config_(Checked(config)) {
    limits_ = {config.vocabulary, config.positions, config.end_id, config.begin_id};
    const DecoderNames names = NamesOf(config);
    const Scope root(parameters_), model = root / names.scope;
    tokens_.emplace(model / names.tokens, config.vocabulary, config.model, Initialization::Normal(0.02),
                    /*scores=*/config.tie_output);
    for (int layer = 0; layer < config.layers; ++layer)
      layers_.emplace_back(model / names.layers / layer, config, layer);
    final_norm_.emplace(model / names.norm, config.model, config.norm_epsilon, norm_options...);
    output_ = config.tie_output ? &tokens_->table()
                                : &root.DeclareMatrix({names.output + ".weight"}, {config.vocabulary, config.model});
    InitializeAsGpt(parameters_, residual_layers, outputs);
  }

  Json::Object LayerSizes() const override { return SizesOfStack(config_); }

  Config config_;
  std::optional<TokenEmbedding> tokens_;
  std::deque<Layer> layers_;
  std::optional<Norm> final_norm_;
};

/// The names of the output matrices of the sublayers in gated layers, and of Mixtral's experts.
inline constexpr std::initializer_list<const char*> kGatedOutputs = {"o_proj", "down_proj", "w2"};

/// The base class of OLMo 2 and StableLM: a decoder in which all layers have the same rotary positions.
template <typename Config, typename Layer, typename Norm>
class RotaryDecoder : public DecoderStack<Config, Layer, Norm> {
 public:
  RotaryDecoder(const Config& config, int residual_layers)
      : DecoderStack<Config, Layer, Norm>(config, residual_layers, kGatedOutputs),
        rotary_(config.rotary.Of(config.HeadDim())) {
    this->limits_.positions = config.rotary.LongestText(config.positions);
  }

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions =
        BeginPass(context, texts, /*memory=*/nullptr, this->layers_.size());
    CheckLengths(texts, first_positions, this->limits_.positions);
    Tensor hidden = (*this->tokens_)(context, ids);
    const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
    for (const Layer& layer : this->layers_) hidden = layer(context, hidden, texts, angles);
    return (*this->final_norm_)(context, hidden);
  }

 private:
  RotaryPositions rotary_;
};

/// Loads the model M of a folder. In addition to the parameters, each layer in the file may have the tensors named in
/// `unused`.
template <typename M, typename Config>
std::unique_ptr<M> LoadDecoder(const ModelFolder& files, const LoadModelOptions& options, const Config& config,
                               std::initializer_list<const char*> unused) {
  auto model = std::make_unique<M>(config);
  const DecoderNames names = NamesOf(config);
  const std::string scope = Prefix(names.scope);
  OtherTensors others = {.unused = {scope + "rotary_emb.inv_freq"}};  // computed from the base
  for (int layer = 0; layer < config.layers; ++layer)
    for (const char* name : unused)
      others.unused.push_back(fmt::format("{}{}.{}.{}", scope, names.layers, layer, name));
  if (config.tie_output) others.tied = {{names.output + ".weight", scope + names.tokens + ".weight"}};
  LoadWeights(files, options, model->parameters(), others);
  return model;
}

/// Loads a folder as a model of type M. `config` contains the defaults of missing keys.
template <typename M, typename Config>
std::unique_ptr<M> LoadRotaryDecoder(const ModelFolder& files, const LoadModelOptions& options, Config config = {}) {
  ReadConfig(files.config, config, options.dropout);
  config.scope = ScopeIn(files.weights, config.scope);
  return LoadDecoder<M>(files, options, config, {"self_attn.rotary_emb.inv_freq"});
}

}  // namespace headlight

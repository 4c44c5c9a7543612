#include "headlight/models/bert.h"

#include <map>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/nn/activation_names.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"

namespace headlight {

void CheckConfig(const BertConfig& config) {
  const auto at_least_one = [](const char* name, std::int64_t value) {
    Check(value >= 1 && value <= (1 << 24), "{} must be from 1 to {}, not {}", name, 1 << 24, value);
  };
  at_least_one("the model dimension", config.model);
  at_least_one("the number of layers", config.layers);
  at_least_one("the number of heads", config.heads);
  at_least_one("the ffn dimension", config.ffn);
  at_least_one("the vocabulary's size", config.vocabulary);
  at_least_one("the number of positions", config.positions);
  at_least_one("the number of segment types", config.types);
  Check(config.model % config.heads == 0, "the number of heads must divide the model dimension: {} does not divide {}",
        config.heads, config.model);
  for (const double probability : {config.dropout, config.attention_dropout})
    Check(probability >= 0 && probability < 1, "dropout must be at least 0 and below 1, not {}", probability);
  Check(config.norm_epsilon > 0 && config.norm_epsilon < 1, "a norm's epsilon must be between 0 and 1, not {}",
        config.norm_epsilon);
  Check(config.pooler || !config.next_sentence, "whether a sentence is the next is told from what the pooler gives");
}

BertLayer::BertLayer(const Scope& scope, const BertConfig& config, int layer)
    : dropout_(config.dropout),
      attention_(scope / "attention",
                 {.model = config.model,
                  .heads = config.heads,
                  .dropout = config.attention_dropout,
                  .names = {"self.query", "self.key", "self.value", "output.dense"}},
                 AttentionKind::encoder_self, layer),
      attention_norm_(scope / "attention" / "output" / "LayerNorm", config.model, config.norm_epsilon),
      feed_forward_(scope, config.model, config.ffn, config.activation, {"intermediate.dense", "output.dense"}),
      feed_forward_norm_(scope / "output" / "LayerNorm", config.model, config.norm_epsilon) {}

Tensor BertLayer::operator()(Context& context, const Tensor& x, const Sequences& texts) const {
  const Tensor attended =
      attention_norm_.AfterResidual(context, x, attention_.Self(context, x, texts, /*causal=*/false), dropout_);
  return feed_forward_norm_.AfterResidual(context, attended, feed_forward_(context, attended), dropout_);
}

Bert::Bert(const BertConfig& config, DType dtype) : TextEncoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.positions, config.types, config.pad_id};
  const Scope root(parameters_), encoder = config.scope.empty() ? root : root / config.scope;
  const Initialisation normal = Initialisation::Normal(0.02);

  const Scope embeddings = encoder / "embeddings";
  Parameter& words = (embeddings / "word_embeddings").Declare("weight", {config.vocabulary, config.model}, normal);
  words.looked_up = true;
  words.in_products = config.masked_words;  // the same table tells which word is hidden
  words_ = &words;
  embedding_.emplace(
      words, 1.0, PositionalEncoding::Learned(embeddings / "position_embeddings", config.positions, config.model), 0.0);
  types_ = &(embeddings / "token_type_embeddings").Declare("weight", {config.types, config.model}, normal);
  embedding_norm_.emplace(embeddings / "LayerNorm", config.model, config.norm_epsilon);

  for (int layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(encoder / "encoder" / "layer" / layer, config, layer);

  if (config.pooler) pooler_.emplace(encoder / "pooler", std::vector<std::string>{"dense"}, config.model, config.model);
  const Scope heads = root / "cls";
  if (config.masked_words) {
    const Scope predictions = heads / "predictions", transform = predictions / "transform";
    masked_words_.emplace(MaskedWords{Linear(transform, {"dense"}, config.model, config.model),
                                      LayerNorm(transform / "LayerNorm", config.model, config.norm_epsilon),
                                      &predictions.Declare("bias", {config.vocabulary}, Initialisation::Constant(0))});
  }
  if (config.next_sentence)
    next_sentence_.emplace(heads, std::vector<std::string>{"seq_relationship"}, config.model, 2);
}

Tensor Bert::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                    const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  const std::vector<std::int32_t> zeros(types.empty() ? ids.size() : 0);
  // The sum of three embeddings (figure 2).
  const Tensor words_and_positions = (*embedding_)(context, ids, texts, first_positions);
  const Tensor segments =
      ops::Embedding(context.Use(*types_), types.empty() ? std::span<const std::int32_t>(zeros) : types);
  const Tensor sum = embedding_norm_->AfterResidual(context, words_and_positions, segments, 0);
  Tensor hidden = ops::Drop(sum, context.NextDropout(config_.dropout));
  for (const BertLayer& layer : layers_) hidden = layer(context, hidden, texts);
  return hidden;
}

Tensor Bert::Pool(Context& context, const Tensor& hidden, const Sequences& texts) const {
  Check(pooler_.has_value(), "this BERT has no pooler");
  std::vector<std::int32_t> first;
  for (const auto& [begin, length] : texts) {
    Check(length > 0, "an empty text has no first token");
    first.push_back(begin);
  }
  return (*pooler_)(context, ops::Embedding(hidden, first), Activation::tanh);
}

Tensor Bert::MaskedWordLogits(Context& context, const Tensor& hidden) const {
  Check(masked_words_.has_value(), "this BERT has no head for masked words");
  const Tensor transformed =
      masked_words_->norm(context, masked_words_->transform(context, hidden, config_.activation));
  return ops::Linear(transformed, context.UseWeight(*words_), context.Use(*masked_words_->bias));
}

Tensor Bert::NextSentenceLogits(Context& context, const Tensor& pooled) const {
  Check(next_sentence_.has_value(), "this BERT has no head for the next sentence");
  return (*next_sentence_)(context, pooled);
}

namespace {

BertConfig ReadConfig(const JsonView& json, const Safetensors& weights) {
  constexpr std::int64_t most = 1 << 24;
  BertConfig config;
  json["model_type"].String({"bert"});
  config.model = json.Get("hidden_size", config.model).Integer(1, most);
  config.layers = static_cast<int>(json.Get("num_hidden_layers", config.layers).Integer(1, 1024));
  config.heads = static_cast<std::int32_t>(json.Get("num_attention_heads", config.heads).Integer(1, most));
  config.ffn = json.Get("intermediate_size", config.ffn).Integer(1, most);
  config.activation = ActivationNamed(json.Get("hidden_act", "gelu"));
  config.dropout = json.Get("hidden_dropout_prob", config.dropout).Number(0, 1);
  config.attention_dropout = json.Get("attention_probs_dropout_prob", config.attention_dropout).Number(0, 1);
  config.norm_epsilon = json.Get("layer_norm_eps", config.norm_epsilon).Number(0, 1);
  config.vocabulary = json.Get("vocab_size", config.vocabulary).Integer(1, most);
  config.positions = json.Get("max_position_embeddings", config.positions).Integer(1, most);
  config.types = json.Get("type_vocab_size", config.types).Integer(1, most);
  config.pad_id = static_cast<std::int32_t>(json.Get("pad_token_id", 0).Integer(0, most));
  json.Get("position_embedding_type", "absolute").String({"absolute"});
  for (const char* decoder : {"is_decoder", "add_cross_attention"})
    Check(!json.Get(decoder, false).Bool(), "{}: a BERT that is a decoder is not supported", json[decoder].place());
  Check(json.Get("tie_word_embeddings", true).Bool(), "{}: an output table of its own is not supported",
        json["tie_word_embeddings"].place());
  RefuseUnreadSettings(json, {"classifier_dropout", "directionality", "pooler_fc_size", "pooler_num_attention_heads",
                              "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  config.scope = weights.contains("bert.embeddings.word_embeddings.weight") ? "bert" : "";
  const std::string pooler = config.scope.empty() ? "pooler.dense.weight" : config.scope + ".pooler.dense.weight";
  config.pooler = weights.contains(pooler);
  config.masked_words = weights.contains("cls.predictions.bias");
  config.next_sentence = weights.contains("cls.seq_relationship.weight");
  CheckConfig(config);
  return config;
}

Json ConfigJson(const BertConfig& config) {
  const char* architecture = config.masked_words    ? config.next_sentence ? "BertForPreTraining" : "BertForMaskedLM"
                             : config.next_sentence ? "BertForNextSentencePrediction"
                                                    : "BertModel";
  return Json::Object{{"architectures", Json::Array{architecture}},
                      {"model_type", "bert"},
                      {"hidden_size", config.model},
                      {"num_hidden_layers", config.layers},
                      {"num_attention_heads", config.heads},
                      {"intermediate_size", config.ffn},
                      {"hidden_act", NameOf(config.activation)},
                      {"hidden_dropout_prob", config.dropout},
                      {"attention_probs_dropout_prob", config.attention_dropout},
                      {"layer_norm_eps", config.norm_epsilon},
                      {"vocab_size", config.vocabulary},
                      {"max_position_embeddings", config.positions},
                      {"type_vocab_size", config.types},
                      {"pad_token_id", config.pad_id},
                      {"dtype", "float32"}};
}

// A file may hold again what is tied, as long as it is the same, and the numbers of the positions.
bool HarmlessTensor(std::string_view name, const BertConfig& config, const Safetensors& file) {
  const std::string scope = config.scope.empty() ? "" : config.scope + ".";
  if (name == scope + "embeddings.position_ids") return true;
  std::string tied;
  if (name == "cls.predictions.decoder.weight") tied = scope + "embeddings.word_embeddings.weight";
  if (name == "cls.predictions.decoder.bias") tied = "cls.predictions.bias";
  return !tied.empty() && SameAsTied(file, name, tied);
}

// The first checkpoints call a norm's gain and bias gamma and beta.
std::string OlderName(std::string name) {
  for (const auto& [newer, older] :
       {std::pair(".LayerNorm.weight", ".LayerNorm.gamma"), std::pair(".LayerNorm.bias", ".LayerNorm.beta")}) {
    if (name.ends_with(newer)) name.replace(name.size() - std::string_view(newer).size(), std::string::npos, older);
  }
  return name;
}

std::unique_ptr<Bert> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Bert>(ReadConfig(files.config, files.weights));
  std::map<Parameter*, std::string> renamed;
  for (Parameter& parameter : model->parameters().all()) {
    std::string& name = parameter.names.front();
    if (const std::string older = OlderName(name); older != name && files.weights.contains(older))
      renamed[&parameter] = std::exchange(name, older);
  }
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessTensor(name, model->config(), files.weights); });
  for (const auto& [parameter, name] : renamed) parameter->names.front() = name;
  return model;
}

}  // namespace

namespace families {
extern const Family bert = {
    .model_types = {"bert"},
    .text_encoder = [](const ModelFolder& files, const LoadModelOptions& options) -> std::unique_ptr<TextEncoder> {
      return Load(files, options);
    }};
}  // namespace families

std::unique_ptr<Bert> LoadBert(const std::string& folder, const LoadModelOptions& options) {
  return Load(OpenModelFolder(folder), options);
}

void Bert::Save(const std::string& folder, kernels::Compute compute) const {
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute);
}

}  // namespace headlight

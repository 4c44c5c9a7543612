#include "headlight/models/bert.h"

#include <map>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"

namespace headlight {

void CheckConfig(const BertConfig& config) {
  CheckSize("the model dimension", config.model);
  CheckSize("the number of layers", config.layers);
  CheckHeads("the number of heads", config.heads, config.model);
  CheckSize("the ffn dimension", config.ffn);
  CheckSize("the vocabulary's size", config.vocabulary);
  CheckSize("the number of positions", config.positions);
  Check(config.types >= 0 && config.types <= kMostOfASize, "the number of segment types must be from 0 to {}, not {}",
        kMostOfASize, config.types);
  for (const double probability :
       {config.dropout, config.attention_dropout, config.classifier_dropout.value_or(config.dropout)})
    CheckProbability("dropout", probability);
  CheckNormEpsilon(config.norm_epsilon);
  CheckConfig(config.on_top);
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

BertEncoder::BertEncoder(const Scope& scope, const BertConfig& config) : dropout_(config.dropout) {
  Check(config.types >= 1, "there must be at least one type of segments");
  const Initialisation normal = Initialisation::Normal(0.02);
  const Scope embeddings = scope / "embeddings";
  Parameter& words = (embeddings / "word_embeddings").Declare("weight", {config.vocabulary, config.model}, normal);
  words.looked_up = true;
  words.in_products = config.on_top.masked_words;  // the same table tells which word is hidden
  words_ = &words;
  embedding_.emplace(words, 1.0,
                     PositionalEncoding::Learned(embeddings / "position_embeddings", config.positions, config.model,
                                                 /*first=*/0, 0.02),
                     0.0);
  types_ = &(embeddings / "token_type_embeddings").Declare("weight", {config.types, config.model}, normal);
  embedding_norm_.emplace(embeddings / "LayerNorm", config.model, config.norm_epsilon);
  for (int layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(scope / "encoder" / "layer" / layer, config, layer);
}

Tensor BertEncoder::operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                               const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  const std::vector<std::int32_t> zeros(types.empty() ? ids.size() : 0);
  // The sum of three embeddings (figure 2).
  const Tensor words_and_positions = (*embedding_)(context, ids, texts, first_positions);
  const Tensor segments =
      ops::Embedding(context.Use(*types_), types.empty() ? std::span<const std::int32_t>(zeros) : types);
  const Tensor sum = embedding_norm_->AfterResidual(context, words_and_positions, segments, 0);
  Tensor hidden = ops::Drop(sum, context.NextDropout(dropout_));
  for (const BertLayer& layer : layers_) hidden = layer(context, hidden, texts);
  return hidden;
}

namespace {

Scope EncoderScope(Parameters& parameters, const BertConfig& config) {
  CheckConfig(config);
  return config.scope.empty() ? Scope(parameters) : Scope(parameters) / config.scope;
}

}  // namespace

Bert::Bert(const BertConfig& config, DType dtype)
    : TextEncoder(dtype), config_(config), encoder_(EncoderScope(parameters_, config), config) {
  limits_ = {config.vocabulary, config.positions, config.types, config.pad_id, config.model};
  const TextHeadsConfig& wanted = heads_.config = config.on_top;
  const Scope root(parameters_), pretraining = root / "cls", predictions = pretraining / "predictions";
  const double dropout = config.classifier_dropout.value_or(config.dropout);
  const std::int64_t labels = std::ssize(wanted.labels);
  if (wanted.pooler) heads_.pooler.emplace(EncoderScope(parameters_, config) / "pooler", config.model);
  if (wanted.masked_words)
    heads_.masked_words.emplace(predictions / "transform", "LayerNorm", predictions, encoder_.words(),
                                config.activation, config.norm_epsilon);
  if (wanted.next_sentence) heads_.next_sentence.emplace(pretraining, "seq_relationship", config.model, 2);
  if (wanted.sequence_classes) {
    Check(wanted.pooler, "a text's class is told from what the pooler gives");
    heads_.class_pooler = heads_.pooler;
    heads_.sequence_classes.emplace(root, "classifier", config.model, labels, dropout);
  }
  if (wanted.token_classes) heads_.token_classes.emplace(root, "classifier", config.model, labels, dropout);
  if (wanted.question_spans) heads_.question_spans.emplace(root, "qa_outputs", config.model, 2);
}

void ReadBertSettings(const JsonView& json, BertConfig& config, std::initializer_list<std::string_view> harmless) {
  constexpr std::int64_t most = kMostOfASize;
  config.model = json.Get("hidden_size", config.model).Integer(1, most);
  config.layers = static_cast<int>(json.Get("num_hidden_layers", config.layers).Integer(1, 1024));
  config.heads = static_cast<std::int32_t>(json.Get("num_attention_heads", config.heads).Integer(1, most));
  config.ffn = json.Get("intermediate_size", config.ffn).Integer(1, most);
  config.activation = ActivationNamed(json.Get("hidden_act", "gelu"));
  config.dropout = json.Get("hidden_dropout_prob", config.dropout).Number(0, 1);
  config.attention_dropout = json.Get("attention_probs_dropout_prob", config.attention_dropout).Number(0, 1);
  if (json["classifier_dropout"].present()) config.classifier_dropout = json["classifier_dropout"].Number(0, 1);
  config.norm_epsilon = json.Get("layer_norm_eps", config.norm_epsilon).Number(0, 1);
  config.vocabulary = json.Get("vocab_size", config.vocabulary).Integer(1, most);
  config.positions = json.Get("max_position_embeddings", config.positions).Integer(1, most);
  config.types = json.Get("type_vocab_size", config.types).Integer(0, most);
  config.pad_id = static_cast<std::int32_t>(json.Get("pad_token_id", config.pad_id).Integer(0, most));
  json.Get("position_embedding_type", "absolute").String({"absolute"});
  for (const char* decoder : {"is_decoder", "add_cross_attention"})
    Check(!json.Get(decoder, false).Bool(), "{}: an encoder that is a decoder is not supported", json[decoder].place());
  Check(json.Get("tie_word_embeddings", true).Bool(), "{}: an output table of its own is not supported",
        json["tie_word_embeddings"].place());
  RefuseUnreadSettings(json, harmless);
}

Json BertSettings(const BertConfig& config, std::string_view model_type) {
  Json json = Json::Object{{"model_type", model_type},
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
  if (config.classifier_dropout) json.Set("classifier_dropout", *config.classifier_dropout);
  return json;
}

namespace {

BertConfig ReadConfig(const ModelFolder& files) {
  BertConfig config;
  files.config["model_type"].String({"bert"});
  if (!files.weights.contains("bert.embeddings.word_embeddings.weight")) config.scope = "";
  config.on_top =
      ReadTextHeads(files, {.pooler = (config.scope.empty() ? "" : "bert.") + std::string("pooler.dense.weight"),
                            .masked_words = "cls.predictions.bias",
                            .next_sentence = "cls.seq_relationship.weight",
                            .sequence_classes = "classifier.weight",
                            .token_classes = "classifier.weight"});
  ReadBertSettings(files.config, config,
                   {"directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                    "pooler_size_per_head", "pooler_type"});
  return config;
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
  auto model = std::make_unique<Bert>(ReadConfig(files));
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
extern const Family bert = MakeFamily<Bert, Load>({"bert"});
}  // namespace families

std::unique_ptr<TextEncoder> Bert::WithHeads(const TextHeadsConfig& heads) const {
  BertConfig config = config_;
  config.on_top = heads;
  config.on_top.pooler = heads.pooler || heads.sequence_classes;  // on which they stand
  config.scope = BertConfig().scope;
  return std::make_unique<Bert>(config, parameters_.dtype());
}

void Bert::Save(const std::string& folder, Compute compute) const {
  Json json = BertSettings(config_, "bert");
  WriteTextHeads(json, config_.on_top, "Bert");
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

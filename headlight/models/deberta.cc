#include "headlight/models/deberta.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {

void CheckConfig(const DebertaConfig& config) {
  CheckConfig(config.bert);
  CheckSize("the farthest relative position", config.farthest);
  CheckProbability("dropout", config.pooler_dropout);
  Check(!config.bert.on_top.pooler && !config.bert.on_top.next_sentence,
        "DeBERTa has no pooler but below classes of texts");
}

DebertaEmbeddings::DebertaEmbeddings(const Scope& scope, const DebertaConfig& config)
    : dropout_(config.bert.dropout),
      longest_(config.bert.positions),
      norm_(scope / "LayerNorm", config.bert.model, config.bert.norm_epsilon) {
  const auto table = [&](const char* name, std::int64_t rows) -> Parameter& {
    return (scope / name).Declare("weight", {rows, config.bert.model}, Initialisation::Normal(0.02));
  };
  Parameter& words = table("word_embeddings", config.bert.vocabulary);
  words.looked_up = true;
  words.in_products = config.bert.on_top.masked_words;  // the same table tells which word is hidden
  words_ = &words;
  if (config.absolute_positions) positions_ = &table("position_embeddings", config.bert.positions);
  if (config.bert.types > 0) types_ = &table("token_type_embeddings", config.bert.types);
}

Tensor DebertaEmbeddings::operator()(Context& context, std::span<const std::int32_t> ids,
                                     std::span<const std::int32_t> types, const Sequences& texts,
                                     std::span<const std::int32_t> first_positions) const {
  std::vector<std::int32_t> rows(ids.begin(), ids.end()), positions(positions_ == nullptr ? 0 : ids.size());
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int32_t first = first_positions.empty() ? 0 : first_positions[text];
    Check(first + texts[text].length <= longest_, "a text of {} tokens is longer than the model's {} positions",
          first + texts[text].length, longest_);
    if (positions_ == nullptr) continue;
    const auto begin = positions.begin() + texts[text].begin;
    std::iota(begin, begin + texts[text].length, first);
  }
  Tensor table;
  if (words_->value.empty()) {  // only packed
    table = ops::Rows(context.UseWeight(*words_), ids);
    std::iota(rows.begin(), rows.end(), 0);
  } else {
    table = context.Use(*words_);
  }
  const Tensor words =
      ops::Embedding(table, rows, 1, positions_ == nullptr ? Tensor() : context.Use(*positions_), positions);
  if (types_ == nullptr) return ops::Drop(norm_(context, words), context.NextDropout(dropout_));
  const std::vector<std::int32_t> zeros(types.empty() ? ids.size() : 0);
  const Tensor segments =
      ops::Embedding(context.Use(*types_), types.empty() ? std::span<const std::int32_t>(zeros) : types);
  return ops::Drop(norm_.AfterResidual(context, words, segments, 0), context.NextDropout(dropout_));
}

DebertaSublayers::DebertaSublayers(const Scope& scope, const DebertaConfig& config)
    : dropout_(config.bert.dropout),
      output_(scope / "attention" / "output", {"dense"}, config.bert.model, config.bert.model),
      attention_norm_(scope / "attention" / "output" / "LayerNorm", config.bert.model, config.bert.norm_epsilon),
      feed_forward_(scope, config.bert.model, config.bert.ffn, config.bert.activation,
                    {"intermediate.dense", "output.dense"}),
      feed_forward_norm_(scope / "output" / "LayerNorm", config.bert.model, config.bert.norm_epsilon) {}

Tensor DebertaSublayers::operator()(Context& context, const Tensor& x, const Tensor& heads) const {
  const Tensor attended = attention_norm_.AfterResidual(context, x, output_(context, heads), dropout_);
  return feed_forward_norm_.AfterResidual(context, attended, feed_forward_(context, attended), dropout_);
}

Scope DebertaScope(Parameters& parameters, const DebertaConfig& config) {
  return config.bert.scope.empty() ? Scope(parameters) : Scope(parameters) / config.bert.scope;
}

TextHeads DebertaHeads(Parameters& parameters, const DebertaConfig& config, const Parameter& words) {
  const TextHeadsConfig& wanted = config.bert.on_top;
  const std::int64_t labels = std::ssize(wanted.labels);
  const Scope root(parameters), predictions = root / "cls" / "predictions", own = root / "lm_predictions" / "lm_head";
  TextHeads heads;
  heads.config = wanted;
  if (wanted.masked_words)
    heads.masked_words.emplace(config.own_masked_words ? own : predictions / "transform", "LayerNorm",
                               config.own_masked_words ? own : predictions, words, config.bert.activation,
                               config.bert.norm_epsilon);
  if (wanted.sequence_classes) {
    heads.class_pooler.emplace(root / "pooler", config.bert.model, config.pooler_activation, config.pooler_dropout);
    heads.sequence_classes.emplace(root, "classifier", config.bert.model, labels,
                                   config.bert.classifier_dropout.value_or(config.bert.dropout));
  }
  if (wanted.token_classes)
    heads.token_classes.emplace(root, "classifier", config.bert.model, labels, config.bert.dropout);
  if (wanted.question_spans) heads.question_spans.emplace(root, "qa_outputs", config.bert.model, 2);
  return heads;
}

DebertaLayer::DebertaLayer(const Scope& scope, const DebertaConfig& config, int layer)
    : attention_{config.bert.heads, config.content_to_position, config.position_to_content,
                 config.bert.attention_dropout, layer},
      dropout_(config.bert.dropout),
      query_key_value_(scope / "attention" / "self", {"in_proj"}, config.bert.model, 3 * config.bert.model,
                       /*bias=*/false),
      query_bias_(&(scope / "attention" / "self").Declare("q_bias", {config.bert.model}, Initialisation::Constant(0))),
      value_bias_(&(scope / "attention" / "self").Declare("v_bias", {config.bert.model}, Initialisation::Constant(0))),
      sublayers_(scope, config) {
  const Scope self = scope / "attention" / "self";
  const std::vector<std::string> key = {"pos_proj"}, query = {"pos_q_proj"};
  if (config.relative_positions && config.content_to_position)
    relative_key_.emplace(self, key, config.bert.model, config.bert.model, /*bias=*/false);
  if (config.relative_positions && config.position_to_content)
    relative_query_.emplace(self, query, config.bert.model, config.bert.model);
}

Tensor DebertaLayer::operator()(Context& context, const Tensor& x, const Sequences& texts,
                                const RelativeVectors& relative) const {
  // The projection's rows go head by head, in each query, key and value: put all queries first, then keys, then values.
  const std::int64_t model = x.columns();
  const std::int32_t heads = attention_.heads;
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(3 * heads * x.rows()));
  for (std::int32_t token = 0; token < x.rows(); ++token)
    for (std::int32_t part = 0; part < 3; ++part)
      for (std::int32_t head = 0; head < heads; ++head) order.push_back((token * heads + head) * 3 + part);
  const Tensor pieces = ops::Reshape(query_key_value_(context, x), {std::ssize(order), model / heads});
  const Tensor projected = ops::Reshape(ops::Embedding(pieces, order), {x.rows(), 3 * model});
  const Tensor query = ops::Add(ops::Columns(projected, 0, model), context.Use(*query_bias_));
  const Tensor value = ops::Add(ops::Columns(projected, 2 * model, model), context.Use(*value_bias_));

  Tensor relative_key, relative_query;
  if (!relative.vectors.empty()) {
    const Tensor vectors = ops::Drop(relative.vectors, context.NextDropout(dropout_));
    if (relative_key_) relative_key = (*relative_key_)(context, vectors);
    if (relative_query_) relative_query = (*relative_query_)(context, vectors);
  }
  return sublayers_(context, x,
                    attention_(context, query, ops::Columns(projected, model, model), value, texts, relative,
                               relative_key, relative_query));
}

Deberta::Deberta(const DebertaConfig& config, DType dtype)
    : TextEncoder(dtype),
      config_((CheckConfig(config), config)),
      limits_{config.bert.vocabulary, config.bert.positions, config.bert.types, config.bert.pad_id, config.bert.model},
      embeddings_(DebertaScope(parameters_, config) / "embeddings", config) {
  const Scope encoder = DebertaScope(parameters_, config) / "encoder";
  for (int layer = 0; layer < config.bert.layers; ++layer)
    layers_.emplace_back(encoder / "layer" / layer, config, layer);
  if (config.relative_positions)
    relative_ = &(encoder / "rel_embeddings")
                     .Declare("weight", {2 * config.farthest, config.bert.model}, Initialisation::Normal(0.02));
  heads_ = DebertaHeads(parameters_, config, embeddings_.words());
}

Tensor Deberta::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                       const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  Tensor hidden = embeddings_(context, ids, types, texts, first_positions);
  RelativeVectors relative;
  if (relative_ != nullptr)  // equation 3
    relative = RelativeVectorsOf(context.Use(*relative_), texts, [&](std::int64_t distance) {
      return std::clamp(distance + config_.farthest, std::int64_t{0}, 2 * config_.farthest - 1);
    });
  for (const DebertaLayer& layer : layers_) hidden = layer(context, hidden, texts, relative);
  return hidden;
}

namespace {

// "c2p|p2c" or ["c2p", "p2c"], or nothing.
void ReadTerms(const JsonView& json, DebertaConfig& config) {
  std::string names;
  if (json.value().As<Json::Array>() == nullptr)
    names = json.present() ? json.String() : "";
  else
    for (const JsonView& item : json.Items()) names += item.String() + "|";
  config.content_to_position = config.position_to_content = false;
  while (!names.empty()) {
    std::string name = names.substr(0, names.find('|'));
    names.erase(0, name.size() + 1);
    std::erase(name, ' ');
    Check(name == "c2p" || name == "p2c", "{}: {} is not supported; c2p and p2c are", json.place(), Quoted(name));
    (name == "c2p" ? config.content_to_position : config.position_to_content) = true;
  }
}

}  // namespace

void ReadDebertaSettings(const ModelFolder& files, DebertaConfig& config) {
  const JsonView& json = files.config;
  BertConfig& bert = config.bert;
  config.absolute_positions = json.Get("position_biased_input", true).Bool();
  config.relative_positions = json.Get("relative_attention", false).Bool();
  ReadTerms(json["pos_att_type"], config);
  config.farthest = json.Get("max_relative_positions", -1).Integer(-1, kMostOfASize);
  config.pooler_dropout = json.Get("pooler_dropout", 0.0).Number(0, 1);
  config.pooler_activation = ActivationNamed(json.Get("pooler_hidden_act", "gelu"));
  for (const char* size : {"embedding_size", "pooler_hidden_size"})
    Check(json.Get(size, json["hidden_size"].value()).value() == json["hidden_size"].value(),
          "{}: a size other than hidden_size is not supported", json[size].place());
  const JsonView dropout = json["cls_dropout"];
  // The names of the head for masked words say whether it is the legacy one.
  ReadBertSettings(json, bert, {"legacy", "padding_idx"});
  bert.classifier_dropout = dropout.present() ? std::optional(dropout.Number(0, 1)) : std::nullopt;
  if (config.farthest < 1) config.farthest = bert.positions;
  config.own_masked_words = files.weights.contains("lm_predictions.lm_head.bias");
  if (!files.weights.contains("deberta.embeddings.word_embeddings.weight")) bert.scope = "";
  bert.on_top = ReadTextHeads(
      files, {.pooler = "",
              .masked_words = config.own_masked_words ? "lm_predictions.lm_head.bias" : "cls.predictions.bias",
              .next_sentence = "",
              .sequence_classes = "classifier.weight",
              .token_classes = "classifier.weight"});
}

Json DebertaSettings(const DebertaConfig& config, std::string_view model_type, const std::string& family) {
  Json json = BertSettings(config.bert, model_type);
  std::vector<std::string> terms;
  if (config.content_to_position) terms.push_back("c2p");
  if (config.position_to_content) terms.push_back("p2c");
  json.Set("pos_att_type", terms);
  json.Set("position_biased_input", config.absolute_positions);
  json.Set("relative_attention", config.relative_positions);
  json.Set("max_relative_positions", config.farthest);
  json.Set("pooler_dropout", config.pooler_dropout);
  json.Set("pooler_hidden_act", NameOf(config.pooler_activation));
  json.Set("legacy", !config.own_masked_words);
  if (config.bert.classifier_dropout) json.Set("cls_dropout", *config.bert.classifier_dropout);
  WriteTextHeads(json, config.bert.on_top, family);
  return json;
}

// A file may hold again what is tied, as long as it is the same; the numbers of the positions; and what published files
// hold of their training: absolute positions that nothing adds, and a head that tells words from replaced ones.
bool HarmlessDebertaTensor(std::string_view name, const DebertaConfig& config, const Safetensors& file) {
  const std::string scope = config.bert.scope.empty() ? "" : config.bert.scope + ".";
  if (name == scope + "embeddings.position_ids" || name.starts_with("mask_predictions.")) return true;
  if (name == scope + "embeddings.position_embeddings.weight") return !config.absolute_positions;
  std::string tied;
  if (name == "cls.predictions.decoder.weight") tied = scope + "embeddings.word_embeddings.weight";
  if (name == "cls.predictions.decoder.bias") tied = "cls.predictions.bias";
  return !tied.empty() && SameAsTied(file, name, tied);
}

namespace {

std::unique_ptr<Deberta> Load(const ModelFolder& files, const LoadModelOptions& options) {
  files.config["model_type"].String({"deberta"});
  Check(!files.config.Get("talking_head", false).Bool(), "{}: heads that talk to each other are not supported",
        files.config["talking_head"].place());
  DebertaConfig config;
  ReadDebertaSettings(files, config);
  auto model = std::make_unique<Deberta>(config);
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessDebertaTensor(name, config, files.weights); });
  return model;
}

}  // namespace

namespace families {
extern const Family deberta = MakeFamily<Deberta, Load>({"deberta"});
}  // namespace families

std::unique_ptr<TextEncoder> Deberta::WithHeads(const TextHeadsConfig& heads) const {
  DebertaConfig config = config_;
  config.bert.on_top = heads;
  config.bert.scope = DebertaConfig().bert.scope;
  return std::make_unique<Deberta>(config, parameters_.dtype());
}

void Deberta::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, DebertaSettings(config_, "deberta", "Deberta"), parameters_, compute);
}

}  // namespace headlight

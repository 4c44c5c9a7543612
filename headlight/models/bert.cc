#include "headlight/models/bert.h"

#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stacks.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"

namespace headlight {

namespace {

const Parameter* Table(const Scope& scope, std::int64_t rows, std::int64_t model) {
  return rows > 0 ? &scope.Declare("weight", {rows, model}, Initialization::Normal(0.02)) : nullptr;
}

}  // namespace

BertEmbeddings::BertEmbeddings(const Scope& scope, const BertConfig& config, bool positions)
    : dropout_(config.dropout),
      longest_(config.positions),
      tokens_(scope / "word_embeddings", config.vocabulary, config.model, Initialization::Normal(0.02),
              /*scores=*/config.on_top.masked_words),
      positions_(Table(scope / "position_embeddings", positions ? config.positions : 0, config.model)),
      types_(Table(scope / "token_type_embeddings", config.types, config.model)),
      norm_(scope / "LayerNorm", config.model, config.norm_epsilon) {}

Tensor BertEmbeddings::operator()(Context& context, std::span<const std::int32_t> ids,
                                  std::span<const std::int32_t> types, const Sequences& texts,
                                  std::span<const std::int32_t> first_positions) const {
  std::vector<std::int32_t> positions(positions_ == nullptr ? 0 : ids.size());
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int32_t first = first_positions.empty() ? 0 : first_positions[text];
    Check(first + texts[text].length <= longest_, "a text of {} tokens is longer than the model's {} positions",
          first + texts[text].length, longest_);
    if (positions_ == nullptr) continue;
    const auto begin = positions.begin() + texts[text].begin;
    std::iota(begin, begin + texts[text].length, first);
  }
  const Tensor words = tokens_(context, ids, 1, positions_ == nullptr ? Tensor() : context.Use(*positions_), positions);
  if (types_ == nullptr) return ops::Drop(norm_(context, words), context.NextDropout(dropout_));
  const std::vector<std::int32_t> zeros(types.empty() ? ids.size() : 0);
  const Tensor segments =
      ops::Embedding(context.Use(*types_), types.empty() ? std::span<const std::int32_t>(zeros) : types);
  return ops::Drop(norm_.AfterResidual(context, words, segments, 0), context.NextDropout(dropout_));
}

TransformerLayerConfig BertLayerOf(const BertConfig& config) {
  return {.model = config.model,
          .heads = config.heads,
          .ffn = config.ffn,
          .activation = config.activation,
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout,
          .norm_epsilon = config.norm_epsilon,
          .names = {.layers = "encoder.layer",
                    .attention = "attention",
                    .attention_norm = "attention.output.LayerNorm",
                    .projections = {"self.query", "self.key", "self.value", "output.dense"},
                    .feed_forward = {"intermediate.dense", "output.dense"},
                    .feed_forward_norm = "output.LayerNorm"}};
}

BertEncoder::BertEncoder(const Scope& scope, const BertConfig& config, const std::optional<EncoderLayerNames>& names)
    : embeddings_(scope / "embeddings", config) {
  TransformerLayerConfig layer = BertLayerOf(config);
  if (names) layer.names = *names;
  for (int i = 0; i < config.layers; ++i) layers_.emplace_back(scope / layer.names.layers / i, layer, i);
}

Tensor BertEncoder::operator()(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                               const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  Tensor hidden = embeddings_(context, ids, types, texts, first_positions);
  for (const EncoderLayer& layer : layers_) hidden = layer(context, hidden, texts);
  return hidden;
}

namespace {

TextHeadsLayout HeadsOf(const BertConfig& config) {
  const std::string pooler = Prefix(config.scope) + "pooler.dense";
  const double dropout = config.classifier_dropout.value_or(config.dropout);
  return {.family = "Bert",
          .pooler = pooler,
          .masked_dense = "cls.predictions.transform.dense",
          .masked_norm = "cls.predictions.transform.LayerNorm",
          .masked_bias = "cls.predictions.bias",
          .masked_activation = config.activation,
          .norm_epsilon = config.norm_epsilon,
          .next_sentence = "cls.seq_relationship",
          .class_pooler = pooler,
          .sequence_dropout = dropout,
          .token_dropout = dropout};
}

}  // namespace

Bert::Bert(const BertConfig& config, DType dtype)
    : TextEncoder(dtype), config_(Checked(config)), encoder_(Scope(parameters_) / config.scope, config) {
  limits_ = {config.vocabulary, config.positions, config.types, config.pad_id, config.model};
  DeclareHeads(parameters_, config.on_top, HeadsOf(config), encoder_.tokens());
}

void DescribeBert(ConfigTable& table, BertConfig& config) {
  DescribeEncoderStack(table, config);
  table.Probability("classifier_dropout", config.classifier_dropout);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  table.Integer("type_vocab_size", config.types, "the number of segment types", 0, kLargestSize);
  table.Integer("pad_token_id", config.pad_id, "the padding's id", 0, kLargestSize);
  table.Only("position_embedding_type", "absolute");
  for (const char* decoder : {"is_decoder", "add_cross_attention"})
    table.Only(decoder, false, "an encoder that is a decoder");
}

void DescribeOutputTable(ConfigTable& table, bool scores_tokens) {
  if (!scores_tokens) return table.Harmless({"tie_word_embeddings"});
  table.Only("tie_word_embeddings", true, "a separate output table");
  table.Note("tie_word_embeddings", true);  // config.json of the original model may have false
}

void Describe(ConfigTable& table, BertConfig& config) {
  table.Note("model_type", "bert");
  DescribeBert(table, config);
  DescribeOutputTable(table, config.on_top.masked_words);
  table.Rule(config.types >= 1, "there must be at least one segment type");
  table.Harmless({"directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                  "pooler_size_per_head", "pooler_type"});
}

namespace {

std::string OlderName(std::string name) {
  for (const auto& [newer, older] :
       {std::pair(".LayerNorm.weight", ".LayerNorm.gamma"), std::pair(".LayerNorm.bias", ".LayerNorm.beta")}) {
    if (name.ends_with(newer)) name.replace(name.size() - std::string_view(newer).size(), std::string::npos, older);
  }
  return name;
}

}  // namespace

void LoadBertWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                     const OtherTensors& others) {
  std::map<Parameter*, std::string> renamed;
  for (Parameter& parameter : parameters.all()) {
    std::string& name = parameter.names.front();
    if (const std::string older = OlderName(name); older != name && files.weights.contains(older))
      renamed[&parameter] = std::exchange(name, older);
  }
  LoadWeights(files, options, parameters, others);
  for (const auto& [parameter, name] : renamed) parameter->names.front() = name;
}

namespace {

std::unique_ptr<Bert> LoadBert(const ModelFolder& files, const LoadModelOptions& options) {
  BertConfig config;
  config.scope = ScopeIn(files.weights, config.scope);
  config.on_top = ReadTextHeads(files.config, files.weights, HeadsOf(config));
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Bert>(config);
  const std::string embeddings = Prefix(config.scope) + "embeddings.";
  LoadBertWeights(files, options, model->parameters(),
                  {.tied = {{"cls.predictions.decoder.weight", embeddings + "word_embeddings.weight"},
                            {"cls.predictions.decoder.bias", "cls.predictions.bias"}},
                   .unused = {embeddings + "position_ids"}});
  return model;
}

}  // namespace

namespace families {
extern const Family bert = MakeFamily<Bert, LoadBert>({"bert"});
}  // namespace families

std::unique_ptr<TextEncoder> Bert::WithHeads(const TextHeadsConfig& wanted) const {
  BertConfig config = config_;
  config.on_top = wanted;
  config.on_top.pooler = wanted.pooler || wanted.sequence_classes;  // required for sequence classification
  config.scope = BertConfig().scope;
  return std::make_unique<Bert>(config, parameters_.dtype());
}

Json::Object SizesOfBert(const BertConfig& config) {
  Json::Object sizes = SizesOfStack(config);
  sizes.push_back({"token_types", config.types});
  return sizes;
}

void Bert::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  WriteTextHeads(json, heads(), HeadsOf(config_));
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

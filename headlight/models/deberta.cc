#include "headlight/models/deberta.h"

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/disentangled_attention.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {

DebertaSublayers::DebertaSublayers(const Scope& scope, const DebertaConfig& config)
    : dropout_(config.bert.dropout),
      output_(scope / "attention" / "output", {"dense"}, config.bert.model, config.bert.model),
      attention_norm_(scope / "attention" / "output" / "LayerNorm", config.bert.model, config.bert.norm_epsilon),
      feed_forward_(scope, config.bert.model, config.bert.ffn, config.bert.activation,
                    {"intermediate.dense", "output.dense"}),
      feed_forward_norm_(scope / "output" / "LayerNorm", config.bert.model, config.bert.norm_epsilon) {}

Tensor DebertaSublayers::operator()(Context& context, const Tensor& x, const Tensor& heads) const {
  const Tensor attended = attention_norm_.AfterResidual(context, x, output_(context, heads), dropout_);
  return PostNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
}

TextHeadsLayout HeadsOf(const DebertaConfig& config) {
  const std::string dense = config.own_masked_words ? "lm_predictions.lm_head" : "cls.predictions.transform";
  return {.family = config.family,
          .masked_dense = dense + ".dense",
          .masked_norm = dense + ".LayerNorm",
          .masked_bias = config.own_masked_words ? dense + ".bias" : "cls.predictions.bias",
          .masked_activation = config.bert.activation,
          .norm_epsilon = config.bert.norm_epsilon,
          .class_pooler = "pooler.dense",
          .class_activation = config.pooler_activation,
          .class_pooler_dropout = config.pooler_dropout,
          .sequence_dropout = config.bert.classifier_dropout.value_or(config.bert.dropout),
          .token_dropout = config.bert.dropout};
}

namespace {

// Reads the attention terms in the form "c2p|p2c" or ["c2p", "p2c"]. They may be absent.
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
    Check(name == "c2p" || name == "p2c", "{}: {} is not supported; c2p and p2c are", json.location(), Quoted(name));
    (name == "c2p" ? config.content_to_position : config.position_to_content) = true;
  }
}

}  // namespace

void DescribeDeberta(ConfigTable& table, DebertaConfig& config) {
  BertConfig& bert = config.bert;
  DescribeBert(table, bert);
  // DeBERTa's own head always uses the embedding table, even if tie_word_embeddings is false.
  DescribeOutputTable(table, bert.on_top.masked_words && !config.own_masked_words);
  table.Default(config.absolute_positions, true);
  table.Default(config.relative_positions, false);
  table.Flag("position_biased_input", config.absolute_positions);
  table.Flag("relative_attention", config.relative_positions);
  if (table.reads()) {
    ReadTerms(table.json()["pos_att_type"], config);
    const std::int64_t farthest = table.json().Get("max_relative_positions", -1).Integer(-1, kLargestSize);
    config.farthest = farthest < 1 ? bert.positions : farthest;
    bert.classifier_dropout.reset();  // DeBERTa uses the key cls_dropout
  }
  std::vector<std::string> terms;
  if (config.content_to_position) terms.push_back("c2p");
  if (config.position_to_content) terms.push_back("p2c");
  table.Note("pos_att_type", terms);
  table.Note("max_relative_positions", config.farthest);
  table.Rule(config.farthest >= 1 && config.farthest <= kLargestSize,
             "the farthest relative position must be from 1 to {}, not {}", kLargestSize, config.farthest);
  table.Probability("pooler_dropout", config.pooler_dropout);
  table.Choice("pooler_hidden_act", config.pooler_activation, kActivationNames);
  table.Probability("cls_dropout", bert.classifier_dropout);
  for (const char* size : {"embedding_size", "pooler_hidden_size"})
    table.Only(size, bert.model, "a size other than hidden_size");
  table.Note("legacy", !config.own_masked_words);  // set from the names of the tensors, not from the file's key
  table.Harmless({"padding_idx"});
  table.Rule(!bert.on_top.pooler && !bert.on_top.next_sentence,
             "DeBERTa has a pooler only for sequence classification");
}

void Describe(ConfigTable& table, DebertaConfig& config) {
  table.Note("model_type", "deberta");
  DescribeDeberta(table, config);
  table.Only("talking_head", false, "talking-heads attention");
}

bool OwnMaskedWords(const Safetensors& weights) { return weights.contains("lm_predictions.lm_head.bias"); }

// Returns the names of tensors that are not parameters. Published files contain some tensors that are used only in
// pre-training: absolute positions, and the head for replaced-token detection.
OtherTensors OthersOf(const DebertaConfig& config) {
  const std::string embeddings = Prefix(config.bert.scope) + "embeddings.";
  return {.tied = {{"cls.predictions.decoder.weight", embeddings + "word_embeddings.weight"},
                   {"cls.predictions.decoder.bias", "cls.predictions.bias"}},
          .unused = {embeddings + "position_ids", embeddings + "position_embeddings.weight", "mask_predictions."}};
}

namespace {

class DebertaLayer {
 public:
  DebertaLayer(const Scope& scope, const DebertaConfig& config, int layer)
      : attention_{config.bert.heads, config.content_to_position, config.position_to_content,
                   config.bert.attention_dropout, layer},
        dropout_(config.bert.dropout),
        query_key_value_(scope / "attention" / "self", {"in_proj"}, config.bert.model, 3 * config.bert.model,
                         /*bias=*/false),
        query_bias_(
            &(scope / "attention" / "self").Declare("q_bias", {config.bert.model}, Initialization::Constant(0))),
        value_bias_(
            &(scope / "attention" / "self").Declare("v_bias", {config.bert.model}, Initialization::Constant(0))),
        sublayers_(scope, config) {
    const Scope self = scope / "attention" / "self";
    const std::vector<std::string> key = {"pos_proj"}, query = {"pos_q_proj"};
    if (config.relative_positions && config.content_to_position)
      relative_key_.emplace(self, key, config.bert.model, config.bert.model, /*bias=*/false);
    if (config.relative_positions && config.position_to_content)
      relative_query_.emplace(self, query, config.bert.model, config.bert.model);
  }

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const RelativeVectors& relative) const {
    // The rows of the projection are ordered by head, then by query, key and value. They are reordered to all queries,
    // then all keys, then all values.
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

 private:
  DisentangledAttention attention_;
  double dropout_;
  Linear query_key_value_;
  const Parameter *query_bias_, *value_bias_;
  std::optional<Linear> relative_key_, relative_query_;
  DebertaSublayers sublayers_;
};

class Deberta : public BertDescendant<Deberta, DebertaConfig> {
 public:
  explicit Deberta(const DebertaConfig& config)
      : BertDescendant(config),
        embeddings_(Scope(parameters_) / config.bert.scope / "embeddings", config.bert, config.absolute_positions) {
    const BertConfig& bert = config.bert;
    limits_ = {bert.vocabulary, bert.positions, bert.types, bert.pad_id, bert.model};
    const Scope encoder = Scope(parameters_) / config.bert.scope / "encoder";
    for (int layer = 0; layer < bert.layers; ++layer) layers_.emplace_back(encoder / "layer" / layer, config, layer);
    if (config.relative_positions)
      relative_ = &(encoder / "rel_embeddings")
                       .Declare("weight", {2 * config.farthest, config.bert.model}, Initialization::Normal(0.02));
    DeclareHeads(parameters_, bert.on_top, HeadsOf(config), embeddings_.tokens());
  }

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions) const override {
    Tensor hidden = embeddings_(context, ids, types, texts, first_positions);
    RelativeVectors relative;
    if (relative_ != nullptr)  // equation 3
      relative = RelativeVectorsOf(context.Use(*relative_), texts, /*buckets=*/0, config_.farthest);
    for (const DebertaLayer& layer : layers_) hidden = layer(context, hidden, texts, relative);
    return hidden;
  }

 private:
  BertEmbeddings embeddings_;
  std::deque<DebertaLayer> layers_;
  const Parameter* relative_ = nullptr;
};

std::unique_ptr<Deberta> LoadDeberta(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadBertDescendant<Deberta, DebertaConfig>(files, options,
                                                    {.own_masked_words = OwnMaskedWords(files.weights)});
}

}  // namespace

namespace families {
extern const Family deberta = MakeFamily<Deberta, LoadDeberta>({"deberta"});
}  // namespace families

}  // namespace headlight

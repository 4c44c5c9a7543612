// DistilBERT (Sanh et al., "DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter", 2019): half
// of BERT's layers, without segments and without the pooler (section 3).
#include <array>
#include <deque>
#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"

namespace headlight {
namespace {

constexpr const char* kType = "distilbert";

struct DistilBertConfig {
  BertConfig bert = {.layers = 6, .classifier_dropout = 0.2, .types = 0, .on_top = {}, .scope = "distilbert"};
  double answer_dropout = 0.1;  // of what answers are told from
};

// The layers and heads are BERT's; checkpoints call their parts otherwise. In the order in which they are replaced.
constexpr std::array<std::pair<const char*, const char*>, 11> kNames = {{
    {".attention.self.query.", ".attention.q_lin."},
    {".attention.self.key.", ".attention.k_lin."},
    {".attention.self.value.", ".attention.v_lin."},
    {".attention.output.dense.", ".attention.out_lin."},
    {".attention.output.LayerNorm.", ".sa_layer_norm."},
    {".intermediate.dense.", ".ffn.lin1."},
    {".output.dense.", ".ffn.lin2."},
    {".output.LayerNorm.", ".output_layer_norm."},
    {"vocab_transform.dense.", "vocab_transform."},
    {"vocab_transform.norm.", "vocab_layer_norm."},
    {"pre_classifier.dense.", "pre_classifier."},
}};

class DistilBert : public TextEncoder {
 public:
  explicit DistilBert(const DistilBertConfig& config) : TextEncoder(DType::float32), config_(config) {
    const BertConfig& bert = config.bert;
    CheckConfig(bert);
    CheckProbability("dropout", config.answer_dropout);
    limits_ = {bert.vocabulary, bert.positions, /*types=*/0, bert.pad_id, bert.model};
    const Scope root(parameters_), encoder = bert.scope.empty() ? root : root / bert.scope;
    const Scope embeddings = encoder / "embeddings";
    Parameter& words =
        (embeddings / "word_embeddings").Declare("weight", {bert.vocabulary, bert.model}, Initialisation::Normal(0.02));
    words.looked_up = true;
    words.in_products = bert.on_top.masked_words;
    embedding_.emplace(
        words, 1.0,
        PositionalEncoding::Learned(embeddings / "position_embeddings", bert.positions, bert.model, /*first=*/0, 0.02),
        bert.dropout, LayerNorm(embeddings / "LayerNorm", bert.model, bert.norm_epsilon));
    for (int layer = 0; layer < bert.layers; ++layer)
      layers_.emplace_back(encoder / "transformer" / "layer" / layer, bert, layer);

    const TextHeadsConfig& wanted = heads_.config = bert.on_top;
    const std::int64_t labels = std::ssize(wanted.labels);
    if (wanted.masked_words)
      heads_.masked_words.emplace(root / "vocab_transform", "norm", root / "vocab_projector", words, bert.activation,
                                  bert.norm_epsilon);
    if (wanted.sequence_classes) {
      heads_.class_pooler.emplace(root / "pre_classifier", bert.model, Activation::relu);
      heads_.sequence_classes.emplace(root, "classifier", bert.model, labels, *bert.classifier_dropout);
    }
    if (wanted.token_classes) heads_.token_classes.emplace(root, "classifier", bert.model, labels, bert.dropout);
    if (wanted.question_spans) heads_.question_spans.emplace(root, "qa_outputs", bert.model, 2, config.answer_dropout);
    for (Parameter& parameter : parameters_.all())
      for (std::string& name : parameter.names)
        for (const auto& [berts, own] : kNames)
          if (const std::size_t at = name.find(berts); at != std::string::npos)
            name.replace(at, std::string_view(berts).size(), own);
  }

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t>,
                const Sequences& texts, std::span<const std::int32_t> first_positions) const override {
    Tensor hidden = (*embedding_)(context, ids, texts, first_positions);
    for (const BertLayer& layer : layers_) hidden = layer(context, hidden, texts);
    return hidden;
  }

  const DistilBertConfig& config() const { return config_; }
  const Limits& limits() const override { return limits_; }
  void Save(const std::string& folder, Compute compute) const override;
  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const override {
    DistilBertConfig config = config_;
    config.bert.on_top = heads;
    config.bert.scope = DistilBertConfig().bert.scope;
    return std::make_unique<DistilBert>(config);
  }

 private:
  DistilBertConfig config_;
  Limits limits_;
  std::optional<Embedding> embedding_;
  std::deque<BertLayer> layers_;
};

DistilBertConfig ReadConfig(const ModelFolder& files) {
  const JsonView& json = files.config;
  DistilBertConfig config;
  BertConfig& bert = config.bert;
  json["model_type"].String({kType});
  if (!files.weights.contains("distilbert.embeddings.word_embeddings.weight")) bert.scope = "";
  bert.on_top = ReadTextHeads(files, {.pooler = "",
                                      .masked_words = "vocab_projector.bias",
                                      .next_sentence = "",
                                      .sequence_classes = "classifier.weight",
                                      .token_classes = "classifier.weight"});
  bert.model = json.Get("dim", bert.model).Integer(1, kMostOfASize);
  bert.layers = static_cast<int>(json.Get("n_layers", bert.layers).Integer(1, 1024));
  bert.heads = static_cast<std::int32_t>(json.Get("n_heads", bert.heads).Integer(1, kMostOfASize));
  bert.ffn = json.Get("hidden_dim", bert.ffn).Integer(1, kMostOfASize);
  bert.activation = ActivationNamed(json.Get("activation", "gelu"));
  bert.dropout = json.Get("dropout", bert.dropout).Number(0, 1);
  bert.attention_dropout = json.Get("attention_dropout", bert.attention_dropout).Number(0, 1);
  bert.classifier_dropout = json.Get("seq_classif_dropout", *bert.classifier_dropout).Number(0, 1);
  config.answer_dropout = json.Get("qa_dropout", config.answer_dropout).Number(0, 1);
  bert.vocabulary = json.Get("vocab_size", bert.vocabulary).Integer(1, kMostOfASize);
  bert.positions = json.Get("max_position_embeddings", bert.positions).Integer(1, kMostOfASize);
  bert.pad_id = static_cast<std::int32_t>(json.Get("pad_token_id", bert.pad_id).Integer(0, kMostOfASize));
  for (const char* tied : {"tie_word_embeddings", "tie_weights_"})
    Check(json.Get(tied, true).Bool(), "{}: an output table of its own is not supported", json[tied].place());
  // The positions are stored in either case.
  RefuseUnreadSettings(json, {"sinusoidal_pos_embds"});
  return config;
}

std::unique_ptr<DistilBert> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<DistilBert>(ReadConfig(files));
  const std::string& scope = model->config().bert.scope;
  const std::string words = (scope.empty() ? "" : scope + ".") + "embeddings.word_embeddings.weight";
  LoadWeights(files, options, model->parameters(), [&](std::string_view name) {
    return name == "vocab_projector.weight" && SameAsTied(files.weights, name, words);
  });
  return model;
}

}  // namespace

namespace families {
extern const Family distilbert = MakeFamily<DistilBert, Load>({kType});
}  // namespace families

void DistilBert::Save(const std::string& folder, Compute compute) const {
  const BertConfig& bert = config_.bert;
  Json json = Json::Object{{"model_type", kType},
                           {"dim", bert.model},
                           {"n_layers", bert.layers},
                           {"n_heads", bert.heads},
                           {"hidden_dim", bert.ffn},
                           {"activation", NameOf(bert.activation)},
                           {"dropout", bert.dropout},
                           {"attention_dropout", bert.attention_dropout},
                           {"seq_classif_dropout", *bert.classifier_dropout},
                           {"qa_dropout", config_.answer_dropout},
                           {"vocab_size", bert.vocabulary},
                           {"max_position_embeddings", bert.positions},
                           {"pad_token_id", bert.pad_id},
                           {"dtype", "float32"}};
  WriteTextHeads(json, bert.on_top, "DistilBert");
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

// DistilBERT (Sanh et al., "DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter", 2019), a
// BERT with half of the layers, without segment types and without the pooler (section 3).
#include <string>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/bert_descendant.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"

namespace headlight {
namespace {

struct DistilBertConfig {
  BertConfig bert = {.layers = 6, .classifier_dropout = 0.2, .types = 0, .on_top = {}, .scope = "distilbert"};
  double answer_dropout = 0.1;  // dropout rate of the answer head's input
};

void Describe(ConfigTable& table, DistilBertConfig& config) {
  BertConfig& bert = config.bert;
  table.Note("model_type", "distilbert");
  table.Size("dim", bert.model, "the model dimension");
  table.Layers("n_layers", bert.layers);
  table.Heads("n_heads", bert.heads, bert.model);
  table.Size("hidden_dim", bert.ffn, "the ffn dimension");
  table.Choice("activation", bert.activation, kActivationNames);
  table.Probability("dropout", bert.dropout);
  table.Probability("attention_dropout", bert.attention_dropout);
  table.Probability("seq_classif_dropout", bert.classifier_dropout);
  table.Probability("qa_dropout", config.answer_dropout);
  table.Size("vocab_size", bert.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", bert.positions, "the number of positions");
  table.Integer("pad_token_id", bert.pad_id, "the padding's id", 0, kLargestSize);
  DescribeOutputTable(table, bert.on_top.masked_words);
  table.Harmless({"tie_weights_", "sinusoidal_pos_embds"});  // files contain the positions in both cases
}

TextHeadsLayout HeadsOf(const DistilBertConfig& config) {
  return {.family = "DistilBert",
          .masked_dense = "vocab_transform",
          .masked_norm = "vocab_layer_norm",
          .masked_bias = "vocab_projector.bias",
          .masked_activation = config.bert.activation,
          .norm_epsilon = config.bert.norm_epsilon,
          .class_pooler = "pre_classifier",
          .class_activation = Activation::relu,
          .sequence_dropout = config.bert.classifier_dropout.value_or(0.2),
          .token_dropout = config.bert.dropout,
          .question_dropout = config.answer_dropout};
}

BertConfig& BertOf(DistilBertConfig& config) { return config.bert; }

OtherTensors OthersOf(const DistilBertConfig& config) {
  return {.tied = {{"vocab_projector.weight", Prefix(config.bert.scope) + "embeddings.word_embeddings.weight"}}};
}

class DistilBert : public BertDescendant<DistilBert, DistilBertConfig> {
 public:
  // The layers are BERT's layers with other parameter names.
  explicit DistilBert(const DistilBertConfig& config)
      : BertDescendant(config),
        encoder_(Scope(parameters_) / config.bert.scope, config.bert,
                 EncoderLayerNames{.layers = "transformer.layer",
                                   .attention = "attention",
                                   .attention_norm = "sa_layer_norm",
                                   .projections = {"q_lin", "k_lin", "v_lin", "out_lin"},
                                   .feed_forward = {"ffn.lin1", "ffn.lin2"},
                                   .feed_forward_norm = "output_layer_norm"}) {
    const BertConfig& bert = config.bert;
    limits_ = {bert.vocabulary, bert.positions, /*types=*/0, bert.pad_id, bert.model};
    DeclareHeads(parameters_, bert.on_top, HeadsOf(config), encoder_.tokens());
  }

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t>,
                const Sequences& texts, std::span<const std::int32_t> first_positions) const override {
    return encoder_(context, ids, /*types=*/{}, texts, first_positions);
  }

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_.bert); }

 private:
  BertEncoder encoder_;
};

std::unique_ptr<DistilBert> LoadDistilBert(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadBertDescendant<DistilBert>(files, options, DistilBertConfig());
}

}  // namespace

namespace families {
extern const Family distilbert = MakeFamily<DistilBert, LoadDistilBert>({"distilbert"});
}  // namespace families

}  // namespace headlight

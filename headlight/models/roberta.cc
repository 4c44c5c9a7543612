// RoBERTa (Liu et al., "RoBERTa: A Robustly Optimized BERT Pretraining Approach", 2019). It is BERT's encoder, trained
// for longer, on more text and without next-sentence prediction. XLM-R (Conneau et al., "Unsupervised Cross-lingual
// Representation Learning at Scale", 2020) is the same model for a hundred languages.
#include <algorithm>
#include <memory>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/bert_descendant.h"
#include "headlight/models/family.h"

namespace headlight {
namespace {

// The defaults are the settings of the paper's RoBERTa-base.
struct RobertaConfig {
  // `positions` is the number of rows of the position table. A text's first token has row pad_id + 1. A text therefore
  // has at most positions - pad_id - 1 tokens.
  BertConfig encoder = {.vocabulary = 50265, .positions = 514, .types = 1, .pad_id = 1, .scope = "roberta"};
  bool xlm = false;  // if true, the model is an XLM-R
};

// Returns the layout of the heads. Unlike BERT's heads, they always use GELU, and sequence classification has no
// pooler.
TextHeadsLayout HeadsOf(const RobertaConfig& config) {
  const double dropout = config.encoder.classifier_dropout.value_or(config.encoder.dropout);
  return {.family = config.xlm ? "XLMRoberta" : "Roberta",
          .pooler = Prefix(config.encoder.scope) + "pooler.dense",
          .masked_dense = "lm_head.dense",
          .masked_norm = "lm_head.layer_norm",
          .masked_bias = "lm_head.bias",
          .norm_epsilon = config.encoder.norm_epsilon,
          .class_pooler = "classifier.dense",
          .class_pooler_dropout = dropout,
          .sequence_classes = "classifier.out_proj",
          .sequence_dropout = dropout,
          .token_dropout = dropout};
}

void Describe(ConfigTable& table, RobertaConfig& config) {
  table.Choice("model_type", config.xlm, {{"roberta", false}, {"xlm-roberta", true}});
  BertConfig& encoder = config.encoder;
  table.Default(encoder.vocabulary, config.xlm ? 30522 : 50265);
  table.Default(encoder.positions, 512);
  table.Default(encoder.types, 2);
  DescribeBert(table, encoder);
  DescribeOutputTable(table, encoder.on_top.masked_words);
  table.Rule(encoder.positions > encoder.pad_id + 1,
             "the number of positions must be above {}, since the padding's id {} is below the first, not {}",
             encoder.pad_id + 1, encoder.pad_id, encoder.positions);
  table.Rule(encoder.types >= 1, "there must be at least one segment type");
  table.Rule(!encoder.on_top.next_sentence, "RoBERTa has no next-sentence head");
}

BertConfig& BertOf(RobertaConfig& config) { return config.encoder; }

OtherTensors OthersOf(const RobertaConfig& config) {
  const std::string embeddings = Prefix(config.encoder.scope) + "embeddings.";
  return {.tied = {{"lm_head.decoder.weight", embeddings + "word_embeddings.weight"},
                   {"lm_head.decoder.bias", "lm_head.bias"}},
          .unused = {embeddings + "position_ids"}};
}

class Roberta : public BertDescendant<Roberta, RobertaConfig> {
 public:
  explicit Roberta(const RobertaConfig& config)
      : BertDescendant(config), encoder_(Scope(parameters_) / config.encoder.scope, config.encoder) {
    const BertConfig& bert = config.encoder;
    limits_ = {.vocabulary = bert.vocabulary,
               .positions = bert.positions - bert.pad_id - 1,
               .types = bert.types,
               .pad_id = bert.pad_id,
               .model = bert.model,
               .padding_has_positions = false};
    DeclareHeads(parameters_, bert.on_top, HeadsOf(config), encoder_.tokens());
  }

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions) const override {
    const std::int32_t pad_id = limits_.pad_id;
    // Padding within a text would have no position, and would shift the later positions.
    Check(std::ranges::find(ids, pad_id) == ids.end(), "a text has the token {}, which is padding", pad_id);
    std::vector<std::int32_t> first;
    for (std::size_t text = 0; text < texts.size(); ++text) {
      const std::int32_t begin = first_positions.empty() ? 0 : first_positions[text];
      Check(begin + texts[text].length <= limits_.positions,
            "a text of {} tokens is longer than the model's {} positions", begin + texts[text].length,
            limits_.positions);
      first.push_back(begin + pad_id + 1);
    }
    return encoder_(context, ids, types, texts, first);
  }

 private:
  BertEncoder encoder_;
};

std::unique_ptr<Roberta> LoadRoberta(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadBertDescendant<Roberta>(files, options, RobertaConfig());
}

}  // namespace

namespace families {
extern const Family roberta = MakeFamily<Roberta, LoadRoberta>({"roberta", "xlm-roberta"});
}  // namespace families

}  // namespace headlight

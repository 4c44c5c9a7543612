#include "headlight/models/visual_bert.h"

#include <array>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

constexpr std::array kVisualBertClasses = {"VisualBertModel", "VisualBertForPreTraining",
                                           "VisualBertForQuestionAnswering",
                                           "VisualBertForVisualReasoning"};  // indexed by VisualBertTask

bool HasClasses(VisualBertTask task) { return task == VisualBertTask::answers || task == VisualBertTask::reasoning; }

// Returns the configuration of the text embeddings. In pre-training, the embedding table is also the output projection
// for masked words.
BertConfig EmbeddingsOf(const VisualBertConfig& config) {
  BertConfig bert = config.bert;
  bert.on_top = {.masked_words = config.task == VisualBertTask::pretraining};
  return bert;
}

TextHeadsLayout HeadsOf(const VisualBertConfig& config) {
  return {.family = "VisualBert",
          .masked_dense = "cls.predictions.transform.dense",
          .masked_norm = "cls.predictions.transform.LayerNorm",
          .masked_bias = "cls.predictions.bias",
          .masked_activation = config.bert.activation,
          .norm_epsilon = config.bert.norm_epsilon};
}

const Parameter* RegionTable(const Scope& scope, std::int64_t rows, std::int64_t model) {
  return &scope.Declare("weight", {rows, model}, Initialization::Normal(0.02));
}

}  // namespace

VisualBert::VisualBert(const VisualBertConfig& config, DType dtype)
    : RegionTextEncoder(dtype),
      config_(Checked(config)),
      embeddings_(Scope(parameters_) / config.bert.scope / "embeddings", EmbeddingsOf(config)),
      region_features_(Scope(parameters_) / config.bert.scope / "embeddings", {"visual_projection"}, config.features,
                       config.bert.model),
      region_types_(RegionTable(Scope(parameters_) / config.bert.scope / "embeddings" / "visual_token_type_embeddings",
                                config.bert.types, config.bert.model)),
      region_positions_(
          RegionTable(Scope(parameters_) / config.bert.scope / "embeddings" / "visual_position_embeddings",
                      config.bert.positions, config.bert.model)),
      pooler_(Scope(parameters_) / config.bert.scope, {"pooler.dense"}, config.bert.model, config.bert.model) {
  const Scope root(parameters_), encoder = root / config.bert.scope / "encoder" / "layer";
  limits_ = {.vocabulary = config.bert.vocabulary,
             .positions = config.bert.positions,
             .types = config.bert.types,
             .pad_id = config.bert.pad_id,
             .features = config.features};
  labels_ = config.labels;
  pair_heads_ = {.alignment = config.task == VisualBertTask::pretraining, .answers = HasClasses(config.task)};
  for (int i = 0; i < config.bert.layers; ++i) layers_.emplace_back(encoder / i, BertLayerOf(config.bert), i);
  DeclareHeads(parameters_, EmbeddingsOf(config).on_top, HeadsOf(config), embeddings_.tokens());
  if (pair_heads_.alignment)
    alignment_.emplace(root, std::vector<std::string>{"cls.seq_relationship"}, config.bert.model, 2);
  if (pair_heads_.answers)
    answers_.emplace(root, std::vector<std::string>{"cls"}, config.bert.model, std::ssize(config.labels));
  if (config.task == VisualBertTask::answers)  // files contain an unused pooler
    for (Parameter& parameter : parameters_.all())
      if (parameter.names.front().find("pooler.dense.") != std::string::npos) parameter.role.trained = false;
}

EncodedPairs VisualBert::Encode(Context& context, std::span<const std::int32_t> ids,
                                std::span<const std::int32_t> types, const Sequences& texts, const Regions& regions,
                                std::span<const std::int32_t> tasks) const {
  CheckPairs(texts, regions);
  Check(tasks.empty(), "this model has no tokens for tasks");
  EncodedPairs states{embeddings_(context, ids, types, texts, {}), {}, texts, regions.images};
  // All regions have position 0, and by default type 1.
  const std::vector<std::int32_t> first(static_cast<std::size_t>(regions.features.rows()));
  std::vector<std::int32_t> types_of_regions = regions.types;
  if (types_of_regions.empty()) types_of_regions.assign(first.size(), 1);
  Check(types_of_regions.size() == first.size(), "{} types for {} regions", types_of_regions.size(), first.size());
  const Tensor places =
      ops::Embedding(context.Use(*region_types_), types_of_regions, 1, context.Use(*region_positions_), first);
  states.regions =
      ops::Drop(embeddings_.norm().AfterResidual(context, region_features_(context, regions.features), places, 0),
                context.NextDropout(config_.bert.dropout));

  JoinedPairs joined = JoinPairs(states);
  for (const EncoderLayer& layer : layers_) joined.rows = layer(context, joined.rows, joined.pairs);
  return SplitPairs(joined.rows, states);
}

Tensor VisualBert::Pool(Context& context, const EncodedPairs& encoded) const {
  if (config_.task != VisualBertTask::answers)
    return pooler_(context, FirstStates(encoded.text, encoded.texts), Activation::tanh);
  std::vector<std::int32_t> rows;
  for (const Sequence& text : encoded.texts) {
    Check(text.length >= 2, "a question must have at least two tokens: the answer is computed from the last but one");
    rows.push_back(text.row(text.length - 2));
  }
  return ops::Embedding(encoded.text, rows);
}

Tensor VisualBert::RegionLogits(Context&, const Tensor&) const {
  Fail("{}: this model has no head for regions", parameters_.source());
}

Tensor VisualBert::AlignmentLogits(Context& context, const Tensor& pooled) const {
  Check(alignment_.has_value(), "{}: this model has no head for alignment", parameters_.source());
  return (*alignment_)(context, pooled);
}

Tensor VisualBert::AnswerLogits(Context& context, const Tensor& pooled) const {
  Check(answers_.has_value(), "{}: this model has no head for answers", parameters_.source());
  return (*answers_)(context, ops::Drop(pooled, context.NextDropout(config_.bert.dropout)));
}

void Describe(ConfigTable& table, VisualBertConfig& config) {
  table.Note("model_type", "visual_bert");
  DescribeBert(table, config.bert);
  DescribeOutputTable(table, config.task == VisualBertTask::pretraining);
  table.Size("visual_embedding_dim", config.features, "the size of a region's features");
  table.Rule(config.bert.types >= 2, "there must be two segment types, the second for regions");
  table.Only("bypass_transformer", false, "regions that bypass the Transformer");
  table.Harmless({"special_visual_initialize"});
  if (HasClasses(config.task)) CheckLabels(config.labels);
}

namespace {

// Returns the task. Only `architectures` determines which head `cls.weight` belongs to.
VisualBertTask TaskOf(const ModelFolder& files) {
  if (files.weights.contains("cls.predictions.bias")) return VisualBertTask::pretraining;
  if (!files.weights.contains("cls.weight")) return VisualBertTask::none;
  std::string architecture;
  const JsonView names = files.config["architectures"];
  if (names.present())
    for (const JsonView& name : names.Items()) architecture = name.String();
  for (const VisualBertTask task : {VisualBertTask::answers, VisualBertTask::reasoning})
    if (architecture == kVisualBertClasses[static_cast<std::size_t>(task)]) return task;
  Fail("{}: {} does not say whether cls.weight is a head of {} or of {}, and nothing else is supported",
       names.location(), Quoted(architecture), kVisualBertClasses[2], kVisualBertClasses[3]);
}

std::unique_ptr<VisualBert> LoadVisualBert(const ModelFolder& files, const LoadModelOptions& options) {
  VisualBertConfig config;
  config.task = TaskOf(files);
  if (!files.weights.contains(config.bert.scope + ".embeddings.word_embeddings.weight")) config.bert.scope = "";
  if (HasClasses(config.task)) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<VisualBert>(config);
  const std::string embeddings = Prefix(config.bert.scope) + "embeddings.";
  LoadWeights(files, options, model->parameters(),
              {.tied = {{"cls.predictions.decoder.weight", embeddings + "word_embeddings.weight"},
                        {"cls.predictions.decoder.bias", "cls.predictions.bias"}},
               .unused = {embeddings + "position_ids"}});
  return model;
}

}  // namespace

namespace families {
extern const Family visual_bert = MakeFamily<VisualBert, LoadVisualBert>({"visual_bert"});
}  // namespace families

const RegionTextEncoder::TensorNames& VisualBert::tensor_names() const {
  static constexpr TensorNames names = {.features = "visual_embeds",
                                        .types = "visual_token_type_ids",
                                        .mask = "visual_attention_mask",
                                        .attentions = {"attentions"},
                                        .text = "last_hidden_state",
                                        .pooled = "pooler_output",
                                        .words = "prediction_logits",
                                        .alignment = "seq_relationship_logits",
                                        .answers = "logits",
                                        .predicts_region_tokens = true};
  return names;
}

std::unique_ptr<RegionTextEncoder> VisualBert::WithAnswers(const std::vector<std::string>& labels) const {
  VisualBertConfig config = config_;
  config.task = labels.empty() ? VisualBertTask::none : VisualBertTask::answers;
  config.labels = labels;
  config.bert.scope = VisualBertConfig().bert.scope;
  return std::make_unique<VisualBert>(config, parameters_.dtype());
}

void VisualBert::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{kVisualBertClasses[static_cast<std::size_t>(config_.task)]});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

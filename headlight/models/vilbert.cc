#include "headlight/models/vilbert.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr double kNormEpsilon = 1e-12;  // epsilon of every norm; not stored in files
constexpr double kPooledDropout = 0.1;  // dropout rate of the pooled input of heads
constexpr std::int64_t kBoxNumbers = 5, kTasks = 20;

// Returns the configuration of the text embeddings, which are the same as in BERT.
BertConfig BertOf(const VilbertConfig& config) {
  return {.model = config.text.model,
          .dropout = config.text.dropout,
          .norm_epsilon = kNormEpsilon,
          .vocabulary = config.vocabulary,
          .positions = config.positions,
          .types = config.types,
          .on_top = {.masked_words = config.pretraining}};
}

TransformerLayerConfig LayerOf(const VilbertStream& sizes) {
  return BertLayerOf({.model = sizes.model,
                      .heads = sizes.heads,
                      .ffn = sizes.ffn,
                      .activation = sizes.activation,
                      .dropout = sizes.dropout,
                      .attention_dropout = sizes.attention_dropout,
                      .norm_epsilon = kNormEpsilon});
}

TextHeadsLayout HeadsOf(const VilbertConfig& config) {
  return {.family = "Vilbert",
          .masked_dense = "cls.predictions.transform.dense",
          .masked_norm = "cls.predictions.transform.LayerNorm",
          .masked_bias = "cls.predictions.bias",
          .masked_activation = config.text.activation,
          .norm_epsilon = kNormEpsilon};
}

}  // namespace

CoAttentionLayer::Stream::Stream(const Scope& scope, const VilbertStream& sizes, std::int64_t joint, int number,
                                 const std::string& prefix)
    : dropout(sizes.dropout),
      attention_dropout(sizes.attention_dropout),
      query_key_value(scope / "biattention",
                      {fmt::format("query{}", number), fmt::format("key{}", number), fmt::format("value{}", number)},
                      sizes.model, 3 * joint),
      output(scope / "biOutput", {fmt::format("dense{}", number)}, joint, sizes.model),
      attention_norm(scope / "biOutput" / fmt::format("LayerNorm{}", number), sizes.model, kNormEpsilon),
      feed_forward(scope, sizes.model, sizes.ffn, sizes.activation,
                   {prefix + "_intermediate.dense", prefix + "_output.dense"}),
      feed_forward_norm(scope / (prefix + "_output.LayerNorm"), sizes.model, kNormEpsilon) {}

CoAttentionLayer::CoAttentionLayer(const Scope& scope, const VilbertConfig& config, int layer)
    : heads_(config.joint_heads),
      layer_(layer),
      image_(scope, config.image, config.joint, 1, "v"),
      text_(scope, config.text, config.joint, 2, "t") {}

void CoAttentionLayer::operator()(Context& context, EncodedPairs& states) const {
  const Tensor words = text_.query_key_value(context, states.text);
  const Tensor regions = image_.query_key_value(context, states.regions);
  // Attention weights use the dropout rate of the keys' stream, as in the authors' code.
  const AttentionAcross to_regions = {heads_, image_.attention_dropout, AttentionKind::text_to_image, layer_},
                        to_words = {heads_, text_.attention_dropout, AttentionKind::image_to_text, layer_};
  const Tensor seen = to_regions(context, words, regions, states.texts, states.images);
  const Tensor read = to_words(context, regions, words, states.images, states.texts);
  const auto end = [&](const Stream& stream, Tensor& rows, const Tensor& attended) {
    rows = stream.attention_norm.AfterResidual(context, rows, stream.output(context, attended), stream.dropout);
    rows = PostNorm(context, rows, stream.feed_forward_norm, stream.dropout, stream.feed_forward);
  };
  end(image_, states.regions, read);
  end(text_, states.text, seen);
}

Vilbert::TaskHeads::TaskHeads(const Scope& root, const VilbertConfig& config)
    : gqa(root / "vil_prediction_gqa", config.joint, 2 * config.joint, config.gqa_answers),
      binary(root / "vil_binary_prediction", 2 * config.joint, 2 * config.joint, 2),
      logit(root, {"vil_logit"}, config.joint, 1),
      three(root, {"vil_tri_prediction"}, config.joint, 3),
      region_logit(root, {"vision_logit"}, config.image.model, 1),
      token_logit(root, {"linguisic_logit"}, config.text.model, 1) {}

Vilbert::Vilbert(const VilbertConfig& config, DType dtype)
    : RegionTextEncoder(dtype),
      config_(Checked(config)),
      embeddings_(Scope(parameters_) / config.scope / "embeddings", BertOf(config)),
      region_features_(Scope(parameters_) / config.scope / "v_embeddings", {"image_embeddings"}, config.features,
                       config.image.model),
      region_places_(Scope(parameters_) / config.scope / "v_embeddings", {"image_location_embeddings"}, kBoxNumbers,
                     config.image.model),
      region_norm_(Scope(parameters_) / config.scope / "v_embeddings" / "LayerNorm", config.image.model, kNormEpsilon),
      text_pooler_(Scope(parameters_) / config.scope, {"t_pooler.dense"}, config.text.model, config.joint),
      image_pooler_(Scope(parameters_) / config.scope, {"v_pooler.dense"}, config.image.model, config.joint) {
  const Scope root(parameters_), base = root / config.scope, encoder = base / "encoder";
  limits_ = {.vocabulary = config.vocabulary,
             .positions = config.positions,
             .types = config.types,
             .features = config.features,
             .box_numbers = kBoxNumbers,
             .region_classes = config.region_classes,
             .tasks = config.task_tokens ? kTasks : 0};
  labels_ = config.labels;
  pair_heads_ = {config.pretraining, config.pretraining, !config.labels.empty()};
  if (config.task_tokens)
    tasks_ = &(base / "embeddings" / "task_embeddings")
                  .Declare("weight", {kTasks, config.text.model}, Initialization::Normal(0.02));
  for (int i = 0; i < config.text.layers; ++i)
    text_layers_.emplace_back(encoder / "layer" / i, LayerOf(config.text), i);
  for (int i = 0; i < config.image.layers; ++i)
    image_layers_.emplace_back(encoder / "v_layer" / i, LayerOf(config.image), i);
  for (int i = 0; i < std::ssize(config.text.joins); ++i)
    joint_layers_.emplace_back(encoder / "c_layer" / i, config, i);

  DeclareHeads(parameters_, {.masked_words = config.pretraining}, HeadsOf(config), embeddings_.tokens());
  if (config.pretraining) {
    const Scope regions = root / "cls" / "imagePredictions";
    region_head_.emplace(RegionHead{Linear(regions / "transform", {"dense"}, config.image.model, config.image.model),
                                    LayerNorm(regions / "transform" / "LayerNorm", config.image.model, kNormEpsilon),
                                    Linear(regions, {"decoder"}, config.image.model, config.region_classes)});
    alignment_.emplace(root / "cls", std::vector<std::string>{"bi_seq_relationship"}, config.joint, 2);
  }
  if (!config.labels.empty())
    answers_.emplace(root / "vil_prediction", config.joint, 2 * config.joint, std::ssize(config.labels));
  if (config.task_heads) task_heads_.emplace(root, config);
}

EncodedPairs Vilbert::Embed(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                            const Sequences& texts, const Regions& regions, std::span<const std::int32_t> tasks) const {
  CheckPairs(texts, regions);
  EncodedPairs states{embeddings_(context, ids, types, texts, {}), {}, texts, regions.images};
  states.regions = ops::Drop(region_norm_.AfterResidual(context, region_features_(context, regions.features),
                                                        region_places_(context, regions.boxes), 0),
                             context.NextDropout(config_.text.dropout));  // both streams use the text's dropout rate
  if (tasks_ == nullptr) {
    Check(tasks.empty(), "this model has no tokens for tasks");
    return states;
  }
  // The task token is the second token of a text.
  const std::vector<std::int32_t> zeros(tasks.empty() ? texts.size() : 0);
  const Tensor rows = embeddings_.norm()(context, ops::Embedding(context.Use(*tasks_), tasks.empty() ? zeros : tasks));
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    states.texts[i] = {static_cast<std::int32_t>(order.size()), texts[i].length + 1};
    for (std::int32_t token = 0; token < texts[i].length; ++token) {
      order.push_back(texts[i].row(token));
      if (token == 0) order.push_back(static_cast<std::int32_t>(ids.size() + i));
    }
  }
  states.text =
      ops::Embedding(ops::Concatenate(states.text, ops::Drop(rows, context.NextDropout(config_.text.dropout))), order);
  return states;
}

EncodedPairs Vilbert::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                             const Sequences& texts, const Regions& regions,
                             std::span<const std::int32_t> tasks) const {
  EncodedPairs states = Embed(context, ids, types, texts, regions, tasks);
  auto text_layer = text_layers_.begin();
  auto image_layer = image_layers_.begin();
  const auto run_to = [&](std::int64_t text_end, std::int64_t image_end) {
    for (; text_layer < text_layers_.begin() + text_end; ++text_layer)
      states.text = (*text_layer)(context, states.text, states.texts);
    AsKind(context, AttentionKind::image_self, [&] {
      for (; image_layer < image_layers_.begin() + image_end; ++image_layer)
        states.regions = (*image_layer)(context, states.regions, states.images);
    });
  };
  for (std::size_t i = 0; i < joint_layers_.size(); ++i) {
    run_to(config_.text.joins[i], config_.image.joins[i]);
    joint_layers_[i](context, states);
  }
  run_to(config_.text.layers, config_.image.layers);
  return states;
}

Tensor Vilbert::PoolText(Context& context, const EncodedPairs& encoded) const {
  return text_pooler_(context, FirstStates(encoded.text, encoded.texts), Activation::relu);
}

Tensor Vilbert::PoolImage(Context& context, const EncodedPairs& encoded) const {
  return image_pooler_(context, FirstStates(encoded.regions, encoded.images), Activation::relu);
}

Tensor Vilbert::Pool(Context& context, const EncodedPairs& encoded) const {
  const Tensor text = PoolText(context, encoded), image = PoolImage(context, encoded);
  return ops::Drop(config_.multiplied ? ops::Multiply(text, image) : ops::Add(text, image),
                   context.NextDropout(kPooledDropout));
}

Tensor Vilbert::RegionLogits(Context& context, const Tensor& regions) const {
  Check(region_head_.has_value(), "{}: this model has no head for regions", parameters_.source());
  // The text stream's activation is used, as in the authors' code.
  const Tensor dense = region_head_->dense(context, regions, config_.text.activation);
  return region_head_->classes(context, region_head_->norm(context, dense));
}

Tensor Vilbert::AlignmentLogits(Context& context, const Tensor& pooled) const {
  Check(alignment_.has_value(), "{}: this model has no head for alignment", parameters_.source());
  return (*alignment_)(context, pooled);
}

Tensor Vilbert::AnswerLogits(Context& context, const Tensor& pooled) const {
  Check(answers_.has_value(), "{}: this model has no head for answers", parameters_.source());
  return (*answers_)(context, pooled);
}

std::vector<std::pair<std::string, Tensor>> Vilbert::TaskLogits(Context& context, const EncodedPairs& encoded,
                                                                const Tensor& pooled) const {
  std::vector<std::pair<std::string, Tensor>> logits;
  if (!task_heads_) return logits;
  const auto add = [&](const char* name, const auto& head, const Tensor& rows) {
    logits.emplace_back(name, head(context, rows));
  };
  const auto dropped = [&](const Tensor& rows) { return ops::Drop(rows, context.NextDropout(kPooledDropout)); };
  add("vil_prediction_gqa", task_heads_->gqa, pooled);
  if (pooled.rows() % 2 == 0)
    add("vil_binary_prediction", task_heads_->binary, ops::Reshape(pooled, {pooled.rows() / 2, 2 * pooled.columns()}));
  add("vil_logit", task_heads_->logit, pooled);
  add("vil_tri_prediction", task_heads_->three, pooled);
  add("vision_logit", task_heads_->region_logit, dropped(encoded.regions));
  add("linguisic_logit", task_heads_->token_logit, dropped(encoded.text));
  return logits;
}

namespace {

// Describes the number of layers of a stream that precede each co-attention layer.
void DescribeJoins(ConfigTable& table, const char* key, std::vector<std::int64_t>& joins, int layers) {
  if (table.writes()) return table.Note(key, Json::Array(joins.begin(), joins.end()));
  if (table.reads() && table.json()[key].present()) {
    joins.clear();
    for (const JsonView& one : table.json()[key].Items()) joins.push_back(one.Integer(0, 1024));
  }
  table.Rule(std::ranges::is_sorted(joins) && (joins.empty() || joins.back() < layers),
             "{}: must be ascending numbers of layers below {}", key, layers);
}

void DescribeStream(ConfigTable& table, const std::string& prefix, VilbertStream& stream) {
  const std::string whose = prefix.empty() ? "the text's " : "the image's ";
  table.Size(prefix + "hidden_size", stream.model, whose + "model dimension");
  table.Layers(prefix + "num_hidden_layers", stream.layers, whose + "number of layers");
  table.Heads(prefix + "num_attention_heads", stream.heads, stream.model, whose + "number of heads");
  table.Size(prefix + "intermediate_size", stream.ffn, whose + "ffn dimension");
  table.Choice(prefix + "hidden_act", stream.activation, kActivationNames);
  table.Probability(prefix + "hidden_dropout_prob", stream.dropout);
  table.Probability(prefix + "attention_probs_dropout_prob", stream.attention_dropout);
}

}  // namespace

void Describe(ConfigTable& table, VilbertConfig& config) {
  table.Note("model_type", "vilbert");
  table.RefuseUnknown();
  DescribeStream(table, "", config.text);
  DescribeStream(table, "v_", config.image);
  DescribeJoins(table, "t_biattention_id", config.text.joins, config.text.layers);
  DescribeJoins(table, "v_biattention_id", config.image.joins, config.image.layers);
  table.Rule(config.text.joins.size() == config.image.joins.size(),
             "t_biattention_id and v_biattention_id must be equally long, not {} and {}", config.text.joins.size(),
             config.image.joins.size());
  table.Size("bi_hidden_size", config.joint, "the dimension between the streams");
  table.Heads("bi_num_attention_heads", config.joint_heads, config.joint);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  table.Size("type_vocab_size", config.types, "the number of segment types");
  table.Size("v_feature_size", config.features, "the size of a region's features");
  table.Size("v_target_size", config.region_classes, "the classes of regions");
  table.Choice("fusion_method", config.multiplied, {{"mul", true}, {"sum", false}});
  table.Flag("task_specific_tokens", config.task_tokens);
  table.Only("model", "bert", "RoBERTa's positions");
  table.Only("dynamic_attention", false, "queries and keys of regions gated by the text");
  table.Only("with_coattention", true, "a model without co-attention");
  table.Only("in_batch_pairs", false, "pairs of each text with each image of a batch");
  table.Only("visual_target", 0, "region targets other than classes");
  table.Only("fixed_t_layer", 0, "text layers that are not trained");
  table.Only("fixed_v_layer", 0, "image layers that are not trained");
  // Settings that the authors' code ignores, or uses only in training and visualization.
  table.Harmless({"pooling_method", "bi_intermediate_size", "bi_attention_type", "v_initializer_range", "fast_mode",
                  "objective", "num_negative", "visualization"});
  if (!config.labels.empty()) CheckLabels(config.labels);
}

namespace {

std::unique_ptr<Vilbert> LoadVilbert(const ModelFolder& files, const LoadModelOptions& options) {
  VilbertConfig config;
  const auto has = [&](const std::string& name) { return files.weights.contains(name); };
  if (!has("bert.embeddings.word_embeddings.weight")) config.scope = "";
  config.pretraining = has("cls.predictions.bias");
  config.task_heads = has("vil_prediction_gqa.logit_fc.3.weight");
  if (config.task_heads) {
    const Shape shape = files.weights.At("vil_prediction_gqa.logit_fc.3.weight").shape;
    config.gqa_answers = shape.rank() > 0 ? shape[0] : 0;
  }
  if (has("vil_prediction.logit_fc.3.weight")) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Vilbert>(config);
  const std::string base = Prefix(config.scope);
  OtherTensors others{.tied = {{"cls.predictions.decoder.weight", base + "embeddings.word_embeddings.weight"}},
                      .unused = {}};
  for (std::size_t i = 0; i < config.text.joins.size();
       ++i)  // the authors' code declares these parameters, but does not use them
    for (const char* name : {"q_dense1.", "q_dense2."})
      others.unused.push_back(fmt::format("{}encoder.c_layer.{}.biOutput.{}", base, i, name));
  LoadWeights(files, options, model->parameters(), others);
  return model;
}

}  // namespace

namespace families {
extern const Family vilbert = MakeFamily<Vilbert, LoadVilbert>({"vilbert"});
}  // namespace families

const RegionTextEncoder::TensorNames& Vilbert::tensor_names() const {
  static constexpr TensorNames names = {
      .features = "image_feat",
      .boxes = "image_loc",
      .mask = "image_attention_mask",
      .tasks = "task_ids",
      .attentions = {"attentions_t", "attentions_v", "attentions_tv", "attentions_vt"},
      .text = "sequence_output_t",
      .regions = "sequence_output_v",
      .words = "prediction_scores_t",
      .region_classes = "prediction_scores_v",
      .alignment = "seq_relationship_score",
      .answers = "vil_prediction"};
  return names;
}

std::vector<RegionTextEncoder::OtherOutput> Vilbert::OtherOutputs(Context& context, const EncodedPairs& encoded,
                                                                  const Tensor& pooled) const {
  std::vector<OtherOutput> outputs = {{"pooled_output_t", PoolText(context, encoded)},
                                      {"pooled_output_v", PoolImage(context, encoded)}};
  for (const auto& [name, logits] : TaskLogits(context, encoded, pooled))
    outputs.push_back({name, logits,
                       name == "vision_logit"      ? OtherOutput::regions
                       : name == "linguisic_logit" ? OtherOutput::tokens
                                                   : OtherOutput::pairs});
  return outputs;
}

std::unique_ptr<RegionTextEncoder> Vilbert::WithAnswers(const std::vector<std::string>& labels) const {
  VilbertConfig config = config_;
  config.labels = labels;
  config.pretraining = config.task_heads = false;
  config.scope = VilbertConfig().scope;
  return std::make_unique<Vilbert>(config, parameters_.dtype());
}

Json::Object Vilbert::LayerSizes() const {
  Json::Object sizes = SizesOfStack(config_.text);
  sizes.push_back({"token_types", config_.types});
  AddMissing(sizes, SizesOfPart("image", config_.image));
  sizes.push_back({"joint_model", config_.joint});
  sizes.push_back({"joint_heads", config_.joint_heads});
  return sizes;
}

void Vilbert::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{!config_.labels.empty() || config_.task_heads ? "VILBertForVLTasks"
                                        : config_.pretraining                         ? "BertForMultiModalPreTraining"
                                                                                      : "BertModel"});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

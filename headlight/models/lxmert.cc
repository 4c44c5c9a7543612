#include "headlight/models/lxmert.h"

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"

namespace headlight {
namespace {

constexpr double kEpsilon = 1e-12;  // epsilon of every norm; not stored in files

// Returns the configuration of the text embeddings. In pre-training, the embedding table is also the output projection
// for masked words.
BertConfig EmbeddingsOf(const LxmertConfig& config) {
  BertConfig bert = config.bert;
  bert.on_top = {.masked_words = config.pretraining};
  return bert;
}

TextHeadsLayout HeadsOf(const LxmertConfig& config) {
  return {.family = "Lxmert",
          .masked_dense = "cls.predictions.transform.dense",
          .masked_norm = "cls.predictions.transform.LayerNorm",
          .masked_bias = "cls.predictions.bias",
          .masked_activation = config.bert.activation,
          .norm_epsilon = kEpsilon};
}

// Returns the configuration of one stream's self-attention and feed-forward network in a cross-modality layer.
TransformerLayerConfig StreamOf(const BertConfig& config, const std::string& stream) {
  TransformerLayerConfig layer = BertLayerOf(config);
  layer.names.attention = stream + "_self_att";
  layer.names.attention_norm = stream + "_self_att.output.LayerNorm";
  layer.names.feed_forward = {stream + "_inter.dense", stream + "_output.dense"};
  layer.names.feed_forward_norm = stream + "_output.LayerNorm";
  return layer;
}

}  // namespace

LxmertCrossLayer::LxmertCrossLayer(const Scope& scope, const LxmertConfig& config, int layer)
    : heads_(config.bert.heads),
      dropout_(config.bert.dropout),
      attention_dropout_(config.bert.attention_dropout),
      layer_(layer),
      query_key_value_(scope / "visual_attention" / "att", {"query", "key", "value"}, config.bert.model,
                       3 * config.bert.model),
      output_(scope / "visual_attention" / "output", {"dense"}, config.bert.model, config.bert.model),
      norm_(scope / "visual_attention" / "output" / "LayerNorm", config.bert.model, kEpsilon),
      text_(scope, StreamOf(config.bert, "lang"), config.bert.layers + layer),
      image_(scope, StreamOf(config.bert, "visn"), config.image_layers + layer) {}

void LxmertCrossLayer::operator()(Context& context, EncodedPairs& states) const {
  const Tensor words = query_key_value_(context, states.text);
  const Tensor regions = query_key_value_(context, states.regions);
  const AttentionAcross to_regions = {heads_, attention_dropout_, AttentionKind::text_to_image, layer_},
                        to_words = {heads_, attention_dropout_, AttentionKind::image_to_text, layer_};
  const Tensor seen = to_regions(context, words, regions, states.texts, states.images);
  const Tensor read = to_words(context, regions, words, states.images, states.texts);
  states.text =
      text_(context, norm_.AfterResidual(context, states.text, output_(context, seen), dropout_), states.texts);
  AsKind(context, AttentionKind::image_self, [&] {
    states.regions =
        image_(context, norm_.AfterResidual(context, states.regions, output_(context, read), dropout_), states.images);
  });
}

Lxmert::Lxmert(const LxmertConfig& config, DType dtype)
    : RegionTextEncoder(dtype),
      config_(Checked(config)),
      embeddings_(Scope(parameters_) / config.bert.scope / "embeddings", EmbeddingsOf(config)),
      region_features_(Scope(parameters_) / config.bert.scope / "encoder" / "visn_fc", {"visn_fc"}, config.features,
                       config.bert.model),
      region_features_norm_(Scope(parameters_) / config.bert.scope / "encoder" / "visn_fc" / "visn_layer_norm",
                            config.bert.model, kEpsilon),
      region_boxes_(Scope(parameters_) / config.bert.scope / "encoder" / "visn_fc", {"box_fc"}, config.box_numbers,
                    config.bert.model),
      region_boxes_norm_(Scope(parameters_) / config.bert.scope / "encoder" / "visn_fc" / "box_layer_norm",
                         config.bert.model, kEpsilon),
      pooler_(Scope(parameters_) / config.bert.scope, {"pooler.dense"}, config.bert.model, config.bert.model) {
  const Scope root(parameters_), encoder = root / config.bert.scope / "encoder";
  const std::int64_t model = config.bert.model;
  const bool of_regions = config.pretraining && config.regions_in_pretraining;
  limits_ = {.vocabulary = config.bert.vocabulary,
             .positions = config.bert.positions,
             .types = config.bert.types,
             .features = config.features,
             .box_numbers = config.box_numbers,
             .region_classes = config.objects,
             .aligned = 1};
  labels_ = config.labels;
  pair_heads_ = {of_regions && config.object_head, config.pretraining, !config.labels.empty()};
  for (int i = 0; i < config.bert.layers; ++i)
    text_layers_.emplace_back(encoder / "layer" / i, BertLayerOf(config.bert), i);
  for (int i = 0; i < config.cross_layers; ++i) cross_layers_.emplace_back(encoder / "x_layers" / i, config, i);
  for (int i = 0; i < config.image_layers; ++i)
    image_layers_.emplace_back(encoder / "r_layers" / i, BertLayerOf(config.bert), i);

  DeclareHeads(parameters_, EmbeddingsOf(config).on_top, HeadsOf(config), embeddings_.tokens());
  if (config.pretraining) alignment_.emplace(root, std::vector<std::string>{"cls.seq_relationship"}, model, 2);
  if (of_regions) {
    const Scope head = root / "obj_predict_head";
    region_head_.emplace(RegionHead{Linear(head / "transform", {"dense"}, model, model),
                                    LayerNorm(head / "transform" / "LayerNorm", model, kEpsilon),
                                    {}});
    const auto add = [&](bool has, const std::string& name, std::int64_t outputs) {
      if (has) region_head_->outputs.emplace_back(name, Linear(head / "decoder_dict", {name}, model, outputs));
    };
    add(config.object_head, "obj", config.objects);
    add(config.attribute_head, "attr", config.attributes);
    add(config.feature_head, "feat", config.features);
  }
  if (!config.labels.empty()) answers_.emplace(root / "answer_head", model, 2 * model, std::ssize(config.labels));
}

EncodedPairs Lxmert::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                            const Sequences& texts, const Regions& regions, std::span<const std::int32_t> tasks) const {
  CheckPairs(texts, regions);
  Check(tasks.empty(), "this model has no tokens for tasks");
  // All embeddings are trained. Transformers does not train the embeddings of position 0 and type 0, which it considers
  // padding. However, a text's first token has position 0, and all tokens of a question have type 0.
  EncodedPairs states{embeddings_(context, ids, types, texts, {}), {}, texts, regions.images};
  // Equation 1: the mean of the normalized features and the normalized boxes.
  const Tensor features = region_features_norm_(context, region_features_(context, regions.features));
  const Tensor boxes = region_boxes_norm_(context, region_boxes_(context, regions.boxes));
  states.regions = ops::Drop(ops::Scale(ops::Add(features, boxes), 0.5), context.NextDropout(config_.bert.dropout));

  for (const EncoderLayer& layer : text_layers_) states.text = layer(context, states.text, texts);
  AsKind(context, AttentionKind::image_self, [&] {
    for (const EncoderLayer& layer : image_layers_) states.regions = layer(context, states.regions, regions.images);
  });
  for (const LxmertCrossLayer& layer : cross_layers_) layer(context, states);
  return states;
}

Tensor Lxmert::Pool(Context& context, const EncodedPairs& encoded) const {
  return pooler_(context, FirstStates(encoded.text, encoded.texts), Activation::tanh);
}

std::vector<std::pair<std::string, Tensor>> Lxmert::RegionPredictions(Context& context, const Tensor& regions) const {
  std::vector<std::pair<std::string, Tensor>> predictions;
  if (!region_head_) return predictions;
  const Tensor states = region_head_->norm(context, region_head_->dense(context, regions, config_.bert.activation));
  for (const auto& [name, output] : region_head_->outputs) predictions.emplace_back(name, output(context, states));
  return predictions;
}

Tensor Lxmert::RegionLogits(Context& context, const Tensor& regions) const {
  Check(pair_heads_.regions, "{}: this model has no head for regions", parameters_.source());
  return RegionPredictions(context, regions).front().second;
}

Tensor Lxmert::AlignmentLogits(Context& context, const Tensor& pooled) const {
  Check(alignment_.has_value(), "{}: this model has no head for alignment", parameters_.source());
  return (*alignment_)(context, pooled);
}

Tensor Lxmert::AnswerLogits(Context& context, const Tensor& pooled) const {
  Check(answers_.has_value(), "{}: this model has no head for answers", parameters_.source());
  return (*answers_)(context, pooled);
}

void Describe(ConfigTable& table, LxmertConfig& config) {
  BertConfig& bert = config.bert;
  table.Note("model_type", "lxmert");
  table.Size("hidden_size", bert.model, "the model dimension");
  table.Heads("num_attention_heads", bert.heads, bert.model);
  table.Size("intermediate_size", bert.ffn, "the ffn dimension");
  table.Choice("hidden_act", bert.activation, kActivationNames);
  table.Probability("hidden_dropout_prob", bert.dropout);
  table.Probability("attention_probs_dropout_prob", bert.attention_dropout);
  table.Layers("l_layers", bert.layers, "the text's number of layers");
  table.Layers("r_layers", config.image_layers, "the image's number of layers");
  table.Layers("x_layers", config.cross_layers, "the number of cross-modality layers");
  table.Size("vocab_size", bert.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", bert.positions, "the number of positions");
  table.Size("type_vocab_size", bert.types, "the number of segment types");
  table.Size("visual_feat_dim", config.features, "the size of a region's features");
  table.Size("visual_pos_dim", config.box_numbers, "the size of a region's box");
  table.Size("num_object_labels", config.objects, "the classes of regions");
  table.Size("num_attr_labels", config.attributes, "the attributes of regions");
  table.Size("num_qa_labels", config.answers, "the number of answers");
  table.Flag("task_qa", config.answers_in_pretraining);
  table.Flag("task_obj_predict", config.regions_in_pretraining);
  table.Flag("visual_obj_loss", config.object_head);
  table.Flag("visual_attr_loss", config.attribute_head);
  table.Flag("visual_feat_loss", config.feature_head);
  DescribeOutputTable(table, config.pretraining);
  // Only losses use these settings, except num_hidden_layers, which repeats the three layer counts.
  table.Harmless({"task_matched", "task_mask_lm", "visual_loss_normalizer", "num_hidden_layers"});
  table.Rule(!config.pretraining || config.labels.empty() != config.answers_in_pretraining,
             "task_qa must be true if a pre-trained model has a head for answers, and false otherwise");
  if (config.labels.empty()) return;
  CheckLabels(config.labels);
  table.Rule(std::ssize(config.labels) == config.answers, "there are {} answers, and the names of {}", config.answers,
             config.labels.size());
}

namespace {

// Returns the labels in id2label. If their number is not num_qa_labels, returns default names, because Transformers
// writes a default id2label for models that do not use it.
std::vector<std::string> ReadAnswers(const JsonView& config) {
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t count = config.Get("num_qa_labels", LxmertConfig().answers).Integer(1, most);
  std::vector<std::string> labels = ReadLabels(config);
  if (std::ssize(labels) == count) return labels;
  labels.clear();
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(fmt::format("LABEL_{}", i));
  return labels;
}

std::unique_ptr<Lxmert> LoadLxmert(const ModelFolder& files, const LoadModelOptions& options) {
  LxmertConfig config;
  const auto has = [&](const std::string& name) { return files.weights.contains(name); };
  if (!has("lxmert.embeddings.word_embeddings.weight")) config.bert.scope = "";
  config.pretraining = has("cls.predictions.bias");
  if (has("answer_head.logit_fc.3.weight")) config.labels = ReadAnswers(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Lxmert>(config);
  LoadWeights(
      files, options, model->parameters(),
      {.tied = {{"cls.predictions.decoder.weight", Prefix(config.bert.scope) + "embeddings.word_embeddings.weight"}},
       .unused = {}});
  return model;
}

}  // namespace

namespace families {
extern const Family lxmert = MakeFamily<Lxmert, LoadLxmert>({"lxmert"});
}  // namespace families

const RegionTextEncoder::TensorNames& Lxmert::tensor_names() const {
  // Transformers returns only the attention from text to image of the cross-modality layers.
  static constexpr TensorNames names = {
      .features = "visual_feats",
      .boxes = "visual_pos",
      .mask = "visual_attention_mask",
      .attentions = {"language_attentions", "vision_attentions", "cross_encoder_attentions", "vision_cross_attentions"},
      .text = "language_output",
      .regions = "vision_output",
      .pooled = "pooled_output",
      .words = "prediction_logits",
      .region_classes = "obj",
      .alignment = "cross_relationship_score",
      .answers = "question_answering_score"};
  return names;
}

std::vector<RegionTextEncoder::OtherOutput> Lxmert::OtherOutputs(Context& context, const EncodedPairs& encoded,
                                                                 const Tensor& /*pooled*/) const {
  std::vector<OtherOutput> outputs;
  for (const auto& [name, logits] : RegionPredictions(context, encoded.regions))
    outputs.push_back({name, logits, OtherOutput::regions});
  return outputs;
}

std::unique_ptr<RegionTextEncoder> Lxmert::WithAnswers(const std::vector<std::string>& labels) const {
  LxmertConfig config = config_;
  config.pretraining = false;
  config.labels = labels;
  if (!labels.empty()) config.answers = std::ssize(labels);
  config.bert.scope = LxmertConfig().bert.scope;
  return std::make_unique<Lxmert>(config, parameters_.dtype());
}

Json::Object Lxmert::LayerSizes() const {
  Json::Object sizes = SizesOfBert(config_.bert);
  sizes.push_back({"image_layers", config_.image_layers});
  sizes.push_back({"joint_layers", config_.cross_layers});
  return sizes;
}

void Lxmert::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{config_.pretraining       ? "LxmertForPreTraining"
                                        : !config_.labels.empty() ? "LxmertForQuestionAnswering"
                                                                  : "LxmertModel"});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

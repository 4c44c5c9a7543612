#include "headlight/models/vilt.h"

#include <array>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/image_settings.h"
#include "headlight/models/files/stacks.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

constexpr std::array kClasses = {"ViltModel", "ViltForMaskedLM", "ViltForQuestionAnswering",
                                 "ViltForImageAndTextRetrieval"};  // indexed by ViltTask

// Returns the configuration of the text embeddings, which are the same as in BERT.
BertConfig BertOf(const ViltConfig& config) {
  return {.model = config.vit.model,
          .dropout = config.vit.dropout,
          .norm_epsilon = config.vit.norm_epsilon,
          .vocabulary = config.vocabulary,
          .positions = config.positions,
          .types = config.types,
          .on_top = {.masked_words = config.task == ViltTask::masked_words}};
}

ImageEmbeddingConfig PatchesOf(const ViltConfig& config) {
  return {.model = config.vit.model,
          .image = config.vit.image,
          .patch = config.vit.patch,
          .channels = config.vit.channels,
          .dropout = config.vit.dropout,
          .interpolation = Interpolation::linear};
}

TextHeadsLayout HeadsOf(const ViltConfig& config) {
  return {.family = "Vilt",
          .masked_dense = "mlm_score.transform.dense",
          .masked_norm = "mlm_score.transform.LayerNorm",
          .masked_bias = "mlm_score.decoder.bias",
          .masked_activation = config.vit.activation,
          .norm_epsilon = config.vit.norm_epsilon};
}

}  // namespace

Vilt::Vilt(const ViltConfig& config, DType dtype)
    : RegionTextEncoder(dtype),
      config_(Checked(config)),
      text_embeddings_(Scope(parameters_) / config.vit.scope / "embeddings" / "text_embeddings", BertOf(config)),
      image_embedding_(Scope(parameters_) / config.vit.scope / "embeddings", PatchesOf(config)),
      modalities_(&(Scope(parameters_) / config.vit.scope / "embeddings" / "token_type_embeddings")
                       .Declare("weight", {config.modalities, config.vit.model}, Initialization::Normal(0.02))),
      norm_(Scope(parameters_) / config.vit.scope / "layernorm", config.vit.model, config.vit.norm_epsilon),
      pooler_(Scope(parameters_) / config.vit.scope, {"pooler.dense"}, config.vit.model, config.vit.model) {
  const Scope root(parameters_), layers = root / config.vit.scope / "encoder" / "layer";
  const std::int64_t model = config.vit.model;
  limits_ = {.vocabulary = config.vocabulary,
             .positions = config.positions,
             .types = config.types,
             .features = config.vit.channels * config.vit.patch.cells(),
             .box_numbers = 4,
             .patch = config.vit.patch,
             .channels = config.vit.channels};
  labels_ = config.labels;
  pair_heads_ = {.answers = config.task == ViltTask::answers};
  for (int i = 0; i < config.vit.layers; ++i) layers_.emplace_back(layers / i, config.vit, i);
  DeclareHeads(parameters_, BertOf(config).on_top, HeadsOf(config), text_embeddings_.tokens());
  if (config.task == ViltTask::answers)
    answers_.emplace(Answers{Linear(root / "classifier", {"0"}, model, 2 * model),
                             LayerNorm(root / "classifier" / 1, 2 * model),
                             Linear(root / "classifier", {"3"}, 2 * model, std::ssize(config.labels))});
  if (config.task == ViltTask::ranking) rank_.emplace(root, std::vector<std::string>{"rank_output"}, model, 1);
}

EncodedPairs Vilt::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                          const Sequences& texts, const Regions& regions, std::span<const std::int32_t> tasks) const {
  CheckPairs(texts, regions);
  Check(tasks.empty(), "this model has no tokens for tasks");
  const auto of_modality = [&](const Tensor& rows, std::int32_t modality) {
    const std::vector<std::int32_t> types_of_rows(static_cast<std::size_t>(rows.rows()), modality);
    return ops::Add(rows, ops::Embedding(context.Use(*modalities_), types_of_rows));
  };
  const EncodedImages patches = image_embedding_.Embed(context, regions.features, GridsOf(regions));
  const EncodedPairs states{of_modality(text_embeddings_(context, ids, types, texts, {}), 0),
                            of_modality(patches.hidden, 1), texts, patches.images};

  JoinedPairs joined = JoinPairs(states);
  for (const VitLayer& layer : layers_) joined.rows = layer(context, joined.rows, joined.pairs);
  return SplitPairs(norm_(context, joined.rows), states);
}

Tensor Vilt::Pool(Context& context, const EncodedPairs& encoded) const {
  return pooler_(context, FirstStates(encoded.text, encoded.texts), Activation::tanh);
}

Tensor Vilt::RegionLogits(Context&, const Tensor&) const {
  Fail("{}: this model has no head for regions", parameters_.source());
}

Tensor Vilt::AlignmentLogits(Context&, const Tensor&) const {
  Fail("{}: this model has no head for alignment", parameters_.source());
}

Tensor Vilt::AnswerLogits(Context& context, const Tensor& pooled) const {
  Check(answers_.has_value(), "{}: this model has no head for answers", parameters_.source());
  const Tensor inner = answers_->norm(context, answers_->inner(context, pooled));
  return answers_->outer(context, ops::Activate(Activation::gelu, inner));
}

Tensor Vilt::RankScores(Context& context, const Tensor& pooled) const {
  Check(rank_.has_value(), "{}: this model has no head for ranking", parameters_.source());
  return (*rank_)(context, pooled);
}

void Describe(ConfigTable& table, ViltConfig& config) {
  table.Note("model_type", "vilt");
  DescribeEncoderStack(table, config.vit);
  DescribeImages(table, config.vit.image, config.vit.patch, config.vit.channels);
  table.Flag("qkv_bias", config.vit.biases);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  table.Size("type_vocab_size", config.types, "the number of segment types");
  table.Size("modality_type_vocab_size", config.modalities, "the number of modalities");
  table.Rule(config.modalities >= 2, "there must be two modalities, text and image");
  table.Rule(config.vit.image.height == config.vit.image.width && config.vit.patch.height == config.vit.patch.width,
             "the images of positions and the patches must be squares");
  table.Only("max_image_length", -1, "randomly selected patches");
  table.Only("num_images", -1, "several images with one text");
  table.Harmless({"tie_word_embeddings"});  // Transformers always ties the tables
  if (config.task == ViltTask::answers) CheckLabels(config.labels);
}

namespace {

std::unique_ptr<Vilt> LoadVilt(const ModelFolder& files, const LoadModelOptions& options) {
  ViltConfig config;
  const auto has = [&](const std::string& name) { return files.weights.contains(name); };
  if (!has("vilt.embeddings.cls_token")) config.vit.scope = "";
  config.task = has("classifier.3.weight")      ? ViltTask::answers
                : has("rank_output.weight")     ? ViltTask::ranking
                : has("mlm_score.decoder.bias") ? ViltTask::masked_words
                                                : ViltTask::none;
  if (config.task == ViltTask::answers) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Vilt>(config);
  const std::string text = Prefix(config.vit.scope) + "embeddings.text_embeddings.";
  LoadWeights(files, options, model->parameters(),
              {.tied = {{"mlm_score.decoder.weight", text + "word_embeddings.weight"},
                        {"mlm_score.bias", "mlm_score.decoder.bias"}},
               .unused = {text + "position_ids", text + "token_type_ids"}});
  return model;
}

}  // namespace

namespace families {
extern const Family vilt = MakeFamily<Vilt, LoadVilt>({"vilt"});
}  // namespace families

const RegionTextEncoder::TensorNames& Vilt::tensor_names() const {
  static constexpr TensorNames names = {.features = "pixel_values",
                                        .mask = "pixel_mask",
                                        .attentions = {"attentions"},
                                        .text = "last_hidden_state",
                                        .pooled = "pooler_output",
                                        .words = "logits",
                                        .answers = "logits"};
  return names;
}

std::vector<RegionTextEncoder::OtherOutput> Vilt::OtherOutputs(Context& context, const EncodedPairs& /*encoded*/,
                                                               const Tensor& pooled) const {
  if (config_.task != ViltTask::ranking) return {};
  return {{"logits", RankScores(context, pooled)}};
}

std::unique_ptr<RegionTextEncoder> Vilt::WithAnswers(const std::vector<std::string>& labels) const {
  ViltConfig config = config_;
  config.task = labels.empty() ? ViltTask::none : ViltTask::answers;
  config.labels = labels;
  config.vit.scope = ViltConfig().vit.scope;
  return std::make_unique<Vilt>(config, parameters_.dtype());
}

Json::Object Vilt::LayerSizes() const {
  Json::Object sizes = SizesOfStack(config_.vit);
  sizes.push_back({"token_types", config_.types});
  return sizes;
}

void Vilt::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{kClasses[static_cast<std::size_t>(config_.task)]});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

#include "headlight/models/blip.h"

#include <array>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/dual_encoder_files.h"
#include "headlight/models/files/image_settings.h"
#include "headlight/models/files/stacks.h"
#include "headlight/nn/heads.h"

namespace headlight {

BlipVisionLayer::BlipVisionLayer(const Scope& scope, const BlipVisionConfig& config, int layer)
    : attention_norm_(scope / "layer_norm1", config.model, config.norm_epsilon),
      attention_(scope / "self_attn",
                 {.model = config.model,
                  .heads = config.heads,
                  .dropout = config.attention_dropout,
                  .names = {.output = "projection", .query_key_value = "qkv"}},
                 AttentionKind::encoder_self, layer),
      feed_forward_norm_(scope / "layer_norm2", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", config.model, config.ffn, config.activation) {}

Tensor BlipVisionLayer::operator()(Context& context, const Tensor& x, const Sequences& images) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, 0, [&](Context&, const Tensor& input) {
    return attention_.Self(context, input, images, /*causal=*/false);
  });
  return PreNorm(context, attended, feed_forward_norm_, 0, feed_forward_);
}

namespace {

MultiHeadAttentionConfig AttentionOf(const BertConfig& config) {
  return {.model = config.model,
          .heads = config.heads,
          .dropout = config.attention_dropout,
          .names = {"self.query", "self.key", "self.value", "output.dense"}};
}

// Returns the settings of cross-attention. For images, the memory has the width of the vision encoder. For questions,
// it has the width of the text model.
MultiHeadAttentionConfig CrossAttentionOf(const BlipConfig& config) {
  MultiHeadAttentionConfig attention = AttentionOf(config.text);
  attention.memory = config.vision.model;
  return attention;
}

}  // namespace

BlipTextLayer::BlipTextLayer(const Scope& scope, const BlipConfig& config, bool writes, int layer)
    : causal_(writes),
      dropout_(config.text.dropout),
      attention_(scope / "attention", AttentionOf(config.text),
                 writes ? AttentionKind::decoder_self : AttentionKind::encoder_self, layer),
      attention_norm_(scope / "attention.output.LayerNorm", config.text.model, config.text.norm_epsilon),
      cross_attention_(scope / "crossattention", CrossAttentionOf(config), AttentionKind::cross, layer),
      cross_attention_norm_(scope / "crossattention.output.LayerNorm", config.text.model, config.text.norm_epsilon),
      feed_forward_(scope, config.text.model, config.text.ffn, config.text.activation,
                    {"intermediate.dense", "output.dense"}),
      feed_forward_norm_(scope / "output.LayerNorm", config.text.model, config.text.norm_epsilon) {}

Tensor BlipTextLayer::operator()(Context& context, const Tensor& x, const Sequences& texts,
                                 const Memory* memory) const {
  Tensor hidden = PostNorm(context, x, attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return attention_.Self(context, input, texts, causal_);
  });
  if (memory != nullptr)
    hidden = PostNorm(context, hidden, cross_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
      return CrossAttention(context, cross_attention_, input, texts, *memory);
    });
  return PostNorm(context, hidden, feed_forward_norm_, dropout_, feed_forward_);
}

namespace {

// Returns the settings of the embeddings. In decoders, the embedding table is also the output projection.
BertConfig EmbeddingsOf(const BlipConfig& config, bool writes) {
  BertConfig text = config.text;
  text.on_top = {.masked_words = writes};
  return text;
}

}  // namespace

BlipText::BlipText(const Scope& scope, const BlipConfig& config, bool writes)
    : embeddings_(scope / "embeddings", EmbeddingsOf(config, writes)) {
  for (int layer = 0; layer < config.text.layers; ++layer)
    layers_.emplace_back(scope / "encoder" / "layer" / layer, config, writes, layer);
}

Tensor BlipText::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                            const Memory* memory) const {
  const std::vector<std::int32_t> first_positions = BeginPass(context, texts, memory, layers_.size());
  Tensor hidden = embeddings_(context, ids, {}, texts, first_positions);
  for (const BlipTextLayer& layer : layers_) hidden = layer(context, hidden, texts, memory);
  return hidden;
}

namespace {

ImageEmbeddingConfig EmbeddingOf(const BlipVisionConfig& config) {
  return {.model = config.model,
          .image = config.image,
          .patch = config.patch,
          .special = {{"class_embedding"}},
          .projection = "patch_embedding",
          .table = "position_embedding"};
}

}  // namespace

Blip::Blip(const BlipConfig& config, DType dtype)
    : CaptionModel(dtype),
      config_(Checked(config)),
      embedding_(Scope(parameters_) / "vision_model" / "embeddings", EmbeddingOf(config.vision)) {
  const BlipTask task = config.task;
  const bool writes = task == BlipTask::captions || task == BlipTask::answers;
  limits_ = {.source_vocabulary = task == BlipTask::captions ? 0 : config.text.vocabulary,
             .target_vocabulary = writes ? config.text.vocabulary : 0,
             .positions = config.text.positions,
             .start_id = config.start_id,
             .end_id = config.end_id,
             .pad_id = -1};
  uses_ = {.captions = task == BlipTask::captions,
           .answers = task == BlipTask::answers,
           .matches = task == BlipTask::matching,
           .vectors = !writes};
  image_limits_ = embedding_.limits();

  const Scope root(parameters_), vision = root / "vision_model";
  for (int layer = 0; layer < config.vision.layers; ++layer)
    layers_.emplace_back(vision / "encoder" / "layers" / layer, config.vision, layer);
  norm_.emplace(vision / "post_layernorm", config.vision.model, config.vision.norm_epsilon);
  const std::string reader = task == BlipTask::vectors ? "text_model" : "text_encoder";
  if (task != BlipTask::captions) encoder_.emplace(root / reader, config, /*writes=*/false);
  const auto linear = [&](std::optional<Linear>& made, const std::string& name, std::int64_t inputs,
                          std::int64_t outputs,
                          bool bias) { made.emplace(root, std::vector<std::string>{name}, inputs, outputs, bias); };
  if (writes) {
    decoder_.emplace(root / "text_decoder" / "bert", config, /*writes=*/true);
    const Scope head = root / "text_decoder" / "cls" / "predictions";
    linear(output_dense_, "text_decoder.cls.predictions.transform.dense", config.text.model, config.text.model, true);
    output_norm_.emplace(head / "transform" / "LayerNorm", config.text.model, config.text.norm_epsilon);
    output_ = &decoder_->table();
    output_bias_ = &head.DeclareVector({"bias"}, config.text.vocabulary);
  } else if (task == BlipTask::matching) {
    linear(image_vectors_, "vision_proj", config.vision.model, config.matching, true);
    linear(text_vectors_, "text_proj", config.text.model, config.matching, true);
    linear(match_, "itm_head", config.text.model, 2, true);
  } else {
    linear(pooler_, "text_model.pooler.dense", config.text.model, config.text.model, true);
    linear(image_vectors_, "visual_projection", config.vision.model, config.vectors, false);
    linear(text_vectors_, "text_projection", config.text.model, config.vectors, false);
    Parameter& scale = root.Declare("logit_scale", {}, Initialization::Constant(2.6592));
    scale.role.trained = false;  // the contrastive loss is not implemented
    logit_scale_ = &scale;
  }
}

EncodedImages Blip::EncodeImages(Context& context, std::span<const Tensor> images) const {
  EncodedImages encoded = embedding_(context, images);
  for (const BlipVisionLayer& layer : layers_) encoded.hidden = layer(context, encoded.hidden, encoded.images);
  encoded.hidden = (*norm_)(context, encoded.hidden);
  return encoded;
}

Tensor Blip::ReadTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                       const Memory* images) const {
  if (!encoder_) return CaptionModel::ReadTexts(context, ids, texts, images);
  return (*encoder_)(context, ids, texts, images);
}

Tensor Blip::MatchLogits(Context& context, const Tensor& states, const Sequences& texts) const {
  return match_ ? (*match_)(context, FirstStates(states, texts)) : CaptionModel::MatchLogits(context, states, texts);
}

Tensor Blip::ImageVectors(Context& context, const EncodedImages& encoded) const {
  if (!image_vectors_) return CaptionModel::ImageVectors(context, encoded);
  // Before pooling, the state of the class token is normalized a second time.
  const Tensor first = encoded.RowOfEach(0);
  return (*image_vectors_)(context, pooler_ ? (*norm_)(context, first) : first);
}

Tensor Blip::TextVectors(Context& context, const Tensor& states, const Sequences& texts) const {
  if (!text_vectors_) return CaptionModel::TextVectors(context, states, texts);
  const Tensor first = FirstStates(states, texts);
  return (*text_vectors_)(context, pooler_ ? (*pooler_)(context, first, Activation::tanh) : first);
}

Tensor Blip::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                    const Memory& memory) const {
  Check(decoder_.has_value(), "{}: this model writes no text", parameters_.source());
  const Tensor hidden = (*decoder_)(context, ids, sequences, &memory);
  return (*output_norm_)(context, (*output_dense_)(context, hidden, config_.text.activation));
}

void Describe(ConfigTable& table, BlipVisionConfig& config) {
  table.Note("model_type", "blip_vision_model");
  DescribeTower(table, config);
  std::int64_t channels = 3;
  DescribeImages(table, config.image, config.patch, channels);
  if (table.reads())
    Check(channels == 3, "{}: images must have 3 channels, not {}", table.json()["num_channels"].location(), channels);
}

namespace {

void DescribeText(ConfigTable& table, BlipConfig& config) {
  table.Note("model_type", "blip_text_model");
  DescribeEncoderStack(table, config.text);
  table.Size("vocab_size", config.text.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.text.positions, "the number of positions");
  table.Note("encoder_hidden_size", config.vision.model);  // Transformers replaces it with the vision encoder's width
  table.Only("is_decoder", true, "a BLIP without cross-attention");
  table.Token("bos_token_id", config.start_id, config.text.vocabulary);
  table.Token("sep_token_id", config.end_id, config.text.vocabulary);
  if (table.writes()) table.Note("is_decoder", true);
  table.Harmless({"initializer_factor", "label_smoothing", "projection_dim", "tie_word_embeddings"});
}

// The settings in text_config. Some of them apply to the whole model.
struct BlipTextConfig {
  BlipConfig& whole;
};
void Describe(ConfigTable& table, BlipTextConfig& config) { DescribeText(table, config.whole); }

}  // namespace

void Describe(ConfigTable& table, BlipConfig& config) {
  table.Note("model_type", "blip");
  if (table.reads()) {
    const JsonView vision = table.json().Get("vision_config", Json::Object{}),
                   text = table.json().Get("text_config", Json::Object{});
    ReadConfig(vision, config.vision);
    BlipTextConfig of_text{config};
    ReadConfig(text, of_text);
  } else if (table.writes()) {
    table.Note("vision_config", WriteConfig(config.vision));
    table.Note("text_config", WriteConfig(BlipTextConfig{config}));
  } else {
    Describe(table, config.vision);
    DescribeText(table, config);
  }
  table.Size("projection_dim", config.vectors, "the vectors' width");
  table.Size("image_text_hidden_size", config.matching, "the matching vectors' width");
  table.Only("tie_word_embeddings", true, "a separate output table");
  table.Harmless({"initializer_factor", "label_smoothing", "logit_scale_init_value", "text_config", "vision_config"});
  table.Rule(config.task != BlipTask::answers || config.text.model == config.vision.model,
             "the answers' decoder reads questions of a width of {}, and its cross-attention images of {}",
             config.text.model, config.vision.model);
}

namespace {

BlipTask TaskOf(const Safetensors& weights) {
  if (weights.contains("itm_head.weight")) return BlipTask::matching;
  if (weights.contains("text_model.pooler.dense.weight")) return BlipTask::vectors;
  return weights.contains("text_encoder.embeddings.word_embeddings.weight") ? BlipTask::answers : BlipTask::captions;
}

std::unique_ptr<Blip> LoadBlip(const ModelFolder& files, const LoadModelOptions& options) {
  BlipConfig config;
  config.task = TaskOf(files.weights);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Blip>(config);
  const std::string decoder = "text_decoder.";
  LoadWeights(
      files, options, model->parameters(),
      {.tied = {{decoder + "cls.predictions.decoder.weight", decoder + "bert.embeddings.word_embeddings.weight"},
                {decoder + "cls.predictions.decoder.bias", decoder + "cls.predictions.bias"}},
       .unused = {decoder + "bert.embeddings.position_ids", "text_encoder.embeddings.position_ids",
                  "text_model.embeddings.position_ids"}});
  return model;
}

}  // namespace

namespace families {
extern const Family blip = MakeFamily<Blip, LoadBlip>({"blip"});
}  // namespace families

Json::Object Blip::LayerSizes() const {
  Json::Object sizes = SizesOfPart("image", config_.vision);
  AddMissing(sizes, SizesOfPart("text", config_.text));
  return sizes;
}

void Blip::Save(const std::string& folder, Compute compute) const {
  static constexpr std::array kClasses = {"BlipForConditionalGeneration", "BlipForQuestionAnswering",
                                          "BlipForImageTextRetrieval", "BlipModel"};
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{kClasses[static_cast<std::size_t>(config_.task)]});
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

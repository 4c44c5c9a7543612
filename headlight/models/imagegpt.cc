#include "headlight/models/imagegpt.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight {

ImageGptLayer::ImageGptLayer(const Scope& scope, const ImageGptConfig& config, int layer)
    : dropout_(config.dropout),
      attention_norm_(scope / "ln_1", config.model, config.norm_epsilon),
      attention_(scope / "attn", Gpt2AttentionOf(config, layer), AttentionKind::decoder_self, layer),
      feed_forward_norm_(scope / "ln_2", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"c_fc", "c_proj"},
                    /*stored_transposed=*/true) {}

// Computes a layer: "n^l = layer_norm(h^l), a^l = h^l + multihead attention(n^l), h^(l+1) = a^l + mlp(layer_norm(a^l))"
// (section 2.3). In the published code, the norms subtract no mean and have no bias.
Tensor ImageGptLayer::operator()(Context& context, const Tensor& x, const Sequences& images) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return attention_.Self(context, input, images, /*causal=*/true);
  });
  return PreNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
}

ImageGpt::ImageGpt(const ImageGptConfig& config, DType dtype) : LanguageModel(dtype), config_(Checked(config)) {
  limits_ = {config.vocabulary, config.positions, /*end_id=*/-1};
  const Scope root(parameters_), transformer = root / config.scope;
  const TokenEmbedding tokens(transformer / "wte", config.vocabulary, config.model, Initialization::Normal(0.02),
                              /*scores=*/config.tie_output);
  if (config.next_color)
    output_ = config.tie_output ? &tokens.table()
                                : &root.DeclareMatrix({"lm_head.weight"}, {config.vocabulary - 1, config.model});
  embedding_.emplace(
      tokens, 1.0, PositionalEncoding::Learned(transformer / "wpe", config.positions, config.model, /*first=*/0, 0.02),
      config.embedding_dropout);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(transformer / "h" / layer, config, layer);
  final_norm_.emplace(transformer / "ln_f", config.model, config.norm_epsilon);
  if (config.classes)
    classes_.emplace(root, std::vector<std::string>{"score"}, config.model, std::ssize(config.labels), /*bias=*/false);
  InitializeAsGpt(parameters_, 2 * config.layers, kGptOutputs);
}

Tensor ImageGpt::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& images) const {
  std::vector<std::int32_t> first_positions;
  if (context.cache != nullptr) first_positions = context.cache->Append(images);
  Tensor hidden = (*embedding_)(context, ids, images, first_positions);
  for (const ImageGptLayer& layer : layers_) hidden = layer(context, hidden, images);
  return (*final_norm_)(context, hidden);
}

// Classifies images: "We average pool n^L across the sequence dimension to extract a d-dimensional vector of features
// per example", followed by a projection to class logits (section 2.4).
Tensor ImageGpt::ClassLogits(Context& context, const Tensor& hidden, const Sequences& images) const {
  Check(classes_.has_value(), "{}: this model has no classes", parameters_.source());
  const std::int32_t longest = std::ranges::max_element(images, {}, &Sequence::length)->length;
  std::vector<std::int32_t> rows;
  std::vector<double> weights;
  for (const Sequence& image : images)
    for (std::int32_t i = 0; i < longest; ++i) {
      rows.push_back(image.row(std::min(i, image.length - 1)));
      weights.push_back(i < image.length ? 1.0 / image.length : 0.0);
    }
  return (*classes_)(context, ops::WeightedRows(hidden, rows, weights, longest));
}

Json::Object ImageGpt::Description() const {
  Json::Object description = LanguageModel::Description();
  description.push_back({"vocabulary", config_.vocabulary});
  description.push_back({"colors", config_.start_id()});
  if (config_.classes) description.push_back({"labels", config_.labels});
  return description;
}

void Describe(ConfigTable& table, ImageGptConfig& config) {
  table.Note("model_type", "imagegpt");
  DescribeGpt2Stack(table, config);
  table.Integer("vocab_size", config.vocabulary, "the vocabulary's size", 2, kLargestSize);
  table.Size("n_positions", config.positions, "the number of positions");
  table.Flag("scale_attn_weights", config.scale_attention);
  table.Flag("scale_attn_by_inverse_layer_idx", config.scale_attention_by_layer);
  table.Only("add_cross_attention", false, "an ImageGPT that reads an encoder's output");
  table.Flag("tie_word_embeddings", config.tie_output);
  table.Harmless({"reorder_and_upcast_attn"});  // only changes the precision of attention
  if (config.classes) CheckLabels(config.labels);
}

namespace {

std::unique_ptr<ImageGpt> LoadImageGpt(const ModelFolder& files, const LoadModelOptions& options) {
  ImageGptConfig config;
  config.scope = ScopeIn(files.weights, config.scope);
  const std::string table = Prefix(config.scope) + "wte.weight";
  config.classes = files.weights.contains("score.weight");
  if (config.classes) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  config.next_color =
      files.weights.contains("lm_head.weight") || (config.tie_output && !config.classes && !config.scope.empty());
  OtherTensors others{.tied = {{"lm_head.weight", table}}};
  for (int layer = 0; layer < config.layers; ++layer)  // older files contain causal masks
    for (const char* mask : {"bias", "masked_bias"})
      others.unused.push_back(fmt::format("{}h.{}.attn.{}", Prefix(config.scope), layer, mask));
  auto model = std::make_unique<ImageGpt>(config);
  LoadWeights(files, options, model->parameters(), others);
  return model;
}

}  // namespace

namespace families {
extern const Family imagegpt = MakeFamily<ImageGpt, LoadImageGpt>({"imagegpt"});
}  // namespace families

void ImageGpt::AddOutputs(Context& context, const Tensor& hidden, const Sequences& images, NamedTensors& out) const {
  if (config_.classes) out.tensors["logits"] = ClassLogits(context, hidden, images);
}

void ImageGpt::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{config_.next_color ? "ImageGPTForCausalImageModeling"
                                        : config_.classes  ? "ImageGPTForImageClassification"
                                                           : "ImageGPTModel"});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

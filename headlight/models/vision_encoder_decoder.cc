#include "headlight/models/vision_encoder_decoder.h"

#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/gpt2_stack.h"

namespace headlight {

VisionEncoderDecoder::VisionEncoderDecoder(const VisionEncoderDecoderConfig& config, DType dtype)
    : CaptionModel(dtype),
      config_(Checked(config)),
      encoder_(Scope(parameters_) / "encoder" / config.encoder.scope, config.encoder),
      decoder_(Scope(parameters_) / "decoder" / config.decoder.scope, config.decoder) {
  limits_ = {.target_vocabulary = config.decoder.vocabulary,
             .positions = config.decoder.positions,
             .start_id = config.start_id,
             .end_id = config.end_id,
             .pad_id = -1};
  uses_.captions = true;
  image_limits_ = encoder_.limits();
  const Scope root(parameters_);
  output_ = config.decoder.tie_output ? &decoder_.table()
                                      : &(root / "decoder").DeclareMatrix({"lm_head.weight"}, decoder_.table().shape);
  // A layer adds three outputs to the residual stream: attention, cross-attention and feed-forward.
  InitializeAsGpt(parameters_, 3 * config.decoder.layers, kGptOutputs);
  if (config.encoder.model != config.decoder.model)
    projection_.emplace(root, std::vector<std::string>{"enc_to_dec_proj"}, config.encoder.model, config.decoder.model);
}

Memory VisionEncoderDecoder::MemoryOf(Context& context, const EncodedImages& encoded) const {
  return {projection_ ? (*projection_)(context, encoded.hidden) : encoded.hidden, encoded.images};
}

namespace {

// Reads a token id from the outer configuration or, if it is missing there, from the decoder's configuration.
std::int32_t ReadId(const JsonView& json, std::initializer_list<const char*> keys, std::int32_t fallback) {
  for (const JsonView& view : {json, json["decoder"]})
    for (const char* key : keys)
      if (const JsonView id = view[key]; id.present()) return static_cast<std::int32_t>(id.Integer(0, kLargestSize));
  return fallback;
}

}  // namespace

void Describe(ConfigTable& table, VisionEncoderDecoderConfig& config) {
  table.Note("model_type", "vision-encoder-decoder");
  table.Note("architectures", Json::Array{"VisionEncoderDecoderModel"});
  table.Note("is_encoder_decoder", true);
  if (table.reads()) {
    const JsonView &json = table.json(), encoder = json["encoder"], decoder = json["decoder"];
    config.encoder.distillation = encoder["model_type"].String({"vit", "deit"}) == "deit";
    decoder["model_type"].String({"gpt2"});
    ReadConfig(encoder, config.encoder);
    ReadConfig(decoder, config.decoder);
    config.start_id = ReadId(json, {"decoder_start_token_id", "bos_token_id"}, config.start_id);
    config.end_id = ReadId(json, {"eos_token_id"}, config.end_id);
  } else if (table.writes()) {
    Json encoder = WriteConfig(config.encoder), decoder = WriteConfig(config.decoder);
    decoder.Set("is_decoder", true);
    table.Note("encoder", std::move(encoder));
    table.Note("decoder", std::move(decoder));
    table.Note("decoder_start_token_id", config.start_id);
    table.Note("eos_token_id", config.end_id);
    table.Note("pad_token_id", config.end_id);  // only used to pad batches; padding is masked
  } else {
    Describe(table, config.encoder);
    Describe(table, config.decoder);
  }
  table.Harmless({"encoder", "decoder", "tie_word_embeddings"});  // only the decoder's tie_word_embeddings is used
  table.Rule(config.decoder.cross_attention, "the decoder needs cross-attention to the image: add_cross_attention");
  table.Rule(config.decoder.layout == GptLayout::gpt2, "the decoder must be a GPT-2");
  for (const auto& [name, id] :
       {std::pair("decoder_start_token_id", config.start_id), std::pair("eos_token_id", config.end_id)})
    table.Rule(id >= 0 && id < config.decoder.vocabulary, "{}: {} is outside the vocabulary of {}", name, id,
               config.decoder.vocabulary);
}

namespace {

std::unique_ptr<VisionEncoderDecoder> LoadVisionEncoderDecoder(const ModelFolder& files,
                                                               const LoadModelOptions& options) {
  VisionEncoderDecoderConfig config;
  config.encoder.mask = files.weights.contains("encoder.embeddings.mask_token");
  ReadConfig(files.config, config, options.dropout);
  const std::string decoder = "decoder." + Prefix(config.decoder.scope);
  auto model = std::make_unique<VisionEncoderDecoder>(config);
  OtherTensors others{.tied = {{"decoder.lm_head.weight", decoder + "wte.weight"}},
                      .unused = GptMasks(config.decoder, decoder)};
  others.unused.push_back("encoder.pooler.");  // the encoder's pooler is not used
  LoadWeights(files, options, model->parameters(), others);
  return model;
}

}  // namespace

namespace families {
extern const Family vision_encoder_decoder =
    MakeFamily<VisionEncoderDecoder, LoadVisionEncoderDecoder>({"vision-encoder-decoder"});
}  // namespace families

Json::Object VisionEncoderDecoder::LayerSizes() const {
  Json::Object sizes = SizesOfPart("image", config_.encoder);
  AddMissing(sizes, SizesOfPart("text", config_.decoder));
  return sizes;
}

void VisionEncoderDecoder::Save(const std::string& folder, Compute compute) const {
  // Transformers does not use the encoder's pooler, but warns if it is missing.
  const std::int64_t model = config_.encoder.model, pooled = config_.encoder.pooled.value_or(model);
  const Tensor weight = Tensor::Zeros({pooled, model}), bias = Tensor::Zeros({pooled});
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute,
                       {Stored("encoder.pooler.dense.weight", weight), Stored("encoder.pooler.dense.bias", bias)});
}

}  // namespace headlight

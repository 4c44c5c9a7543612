#include "headlight/models/roberta.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"

namespace headlight {
namespace {

constexpr const char *kType = "roberta", *kXlmType = "xlm-roberta";

Scope EncoderScope(Parameters& parameters, const RobertaConfig& config) {
  CheckConfig(config);
  const std::string& scope = config.encoder.scope;
  return scope.empty() ? Scope(parameters) : Scope(parameters) / scope;
}

}  // namespace

void CheckConfig(const RobertaConfig& config) {
  CheckConfig(config.encoder);
  Check(config.encoder.positions > config.encoder.pad_id + 1,
        "the number of positions must be above {}, since the padding's id {} is below the first, not {}",
        config.encoder.pad_id + 1, config.encoder.pad_id, config.encoder.positions);
  Check(!config.encoder.on_top.next_sentence, "RoBERTa does not tell whether a sentence is the next");
}

Roberta::Roberta(const RobertaConfig& config, DType dtype)
    : TextEncoder(dtype), config_(config), encoder_(EncoderScope(parameters_, config), config.encoder) {
  const BertConfig& bert = config.encoder;
  limits_ = {.vocabulary = bert.vocabulary,
             .positions = bert.positions - bert.pad_id - 1,
             .types = bert.types,
             .pad_id = bert.pad_id,
             .model = bert.model,
             .padding_has_positions = false};
  const TextHeadsConfig& wanted = heads_.config = bert.on_top;
  const Scope root(parameters_), lm_head = root / "lm_head", classifier = root / "classifier";
  const double dropout = bert.classifier_dropout.value_or(bert.dropout);
  const std::int64_t labels = std::ssize(wanted.labels);
  if (wanted.pooler) heads_.pooler.emplace(EncoderScope(parameters_, config) / "pooler", bert.model);
  // Its heads are not BERT's: gelu whatever the layers have, and no pooler below the classes.
  if (wanted.masked_words)
    heads_.masked_words.emplace(lm_head, "layer_norm", lm_head, encoder_.words(), Activation::gelu, bert.norm_epsilon);
  if (wanted.sequence_classes) {
    heads_.class_pooler.emplace(classifier, bert.model, Activation::tanh, dropout);
    heads_.sequence_classes.emplace(classifier, "out_proj", bert.model, labels, dropout);
  }
  if (wanted.token_classes) heads_.token_classes.emplace(root, "classifier", bert.model, labels, dropout);
  if (wanted.question_spans) heads_.question_spans.emplace(root, "qa_outputs", bert.model, 2);
}

Tensor Roberta::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                       const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  const std::int32_t pad_id = limits_.pad_id;
  // Padding within a text would have no position, and move those behind it.
  Check(std::ranges::find(ids, pad_id) == ids.end(), "a text has the token {}, which is padding", pad_id);
  std::vector<std::int32_t> first;
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int32_t begin = first_positions.empty() ? 0 : first_positions[text];
    Check(begin + texts[text].length <= limits_.positions,
          "a text of {} tokens is longer than the model's {} positions", begin + texts[text].length, limits_.positions);
    first.push_back(begin + pad_id + 1);
  }
  return encoder_(context, ids, types, texts, first);
}

namespace {

RobertaConfig ReadConfig(const ModelFolder& files) {
  RobertaConfig config;
  config.xlm = files.config["model_type"].String({kType, kXlmType}) == kXlmType;
  BertConfig& bert = config.encoder;
  // What Transformers means where a key is missing.
  bert.vocabulary = config.xlm ? 30522 : 50265;
  bert.positions = 512;
  bert.types = 2;
  if (!files.weights.contains("roberta.embeddings.word_embeddings.weight")) bert.scope = "";
  bert.on_top =
      ReadTextHeads(files, {.pooler = (bert.scope.empty() ? "" : "roberta.") + std::string("pooler.dense.weight"),
                            .masked_words = "lm_head.bias",
                            .next_sentence = "",
                            .sequence_classes = "classifier.out_proj.weight",
                            .token_classes = "classifier.weight"});
  ReadBertSettings(files.config, bert, {});
  return config;
}

// A file may hold again what is tied, as long as it is the same, and the numbers of the positions.
bool HarmlessTensor(std::string_view name, const RobertaConfig& config, const Safetensors& file) {
  const std::string scope = config.encoder.scope.empty() ? "" : config.encoder.scope + ".";
  if (name == scope + "embeddings.position_ids") return true;
  std::string tied;
  if (name == "lm_head.decoder.weight") tied = scope + "embeddings.word_embeddings.weight";
  if (name == "lm_head.decoder.bias") tied = "lm_head.bias";
  return !tied.empty() && SameAsTied(file, name, tied);
}

std::unique_ptr<Roberta> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Roberta>(ReadConfig(files));
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessTensor(name, model->config(), files.weights); });
  return model;
}

}  // namespace

namespace families {
extern const Family roberta = MakeFamily<Roberta, Load>({kType, kXlmType});
}  // namespace families

std::unique_ptr<TextEncoder> Roberta::WithHeads(const TextHeadsConfig& heads) const {
  RobertaConfig config = config_;
  config.encoder.on_top = heads;
  config.encoder.scope = RobertaConfig().encoder.scope;
  return std::make_unique<Roberta>(config, parameters_.dtype());
}

void Roberta::Save(const std::string& folder, Compute compute) const {
  Json json = BertSettings(config_.encoder, config_.xlm ? kXlmType : kType);
  WriteTextHeads(json, config_.encoder.on_top, config_.xlm ? "XLMRoberta" : "Roberta");
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight

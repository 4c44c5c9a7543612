// headlight info: what a model folder holds.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "headlight/base/json.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_pipeline.h"

namespace headlight {
namespace {

struct Options {
  std::string folder;
  bool json = false;
};

const char* Name(SubwordAlgorithm algorithm) { return algorithm == SubwordAlgorithm::bpe ? "BPE" : "unigram"; }

std::int64_t Bytes(const Parameters& parameters) {
  std::int64_t bytes = 0;
  for (const Parameter& parameter : parameters.all())
    bytes += parameter.value.elements() * SizeOf(DType::float32) + static_cast<std::int64_t>(parameter.packed.bytes());
  return bytes;
}

// What every family's model has.
Json::Object Common(const std::string& family, const Model& model, std::int64_t positions) {
  return {{"family", family},
          {"positions", positions},
          {"parameters", model.parameters().count()},
          {"compute", Name(model.parameters().all().front().compute)},
          {"memory_bytes", Bytes(model.parameters())}};
}

// The names of an encoder's heads.
Json::Array HeadsOf(const TextHeadsConfig& heads) {
  Json::Array names;
  for (const auto& [has, name] :
       {std::pair(heads.pooler, "pooler"), std::pair(heads.masked_words, "masked words"),
        std::pair(heads.next_sentence, "next sentence"), std::pair(heads.sequence_classes, "classes of texts"),
        std::pair(heads.token_classes, "classes of tokens"), std::pair(heads.question_spans, "answers")})
    if (has) names.emplace_back(name);
  return names;
}

Json Describe(const std::string& folder) {
  const ModelFolder files = OpenModelFolder(folder);
  const Family& family = FamilyOf(files);
  const std::string type = files.config["model_type"].String();
  const LoadModelOptions loading{.purpose = LoadFor::computing};
  Json::Object description;
  if (family.text_encoder != nullptr) {
    const auto model = LoadTextEncoder(folder, loading);
    description = Common(type, *model, model->limits().positions);
    description.push_back({"heads", HeadsOf(model->heads())});
  } else if (family.language_model != nullptr) {
    const auto model = LoadLanguageModel(folder, loading);
    description = Common(type, *model, model->limits().positions);
  } else {
    const auto model = LoadEncoderDecoder(folder, loading);
    description = Common(type, *model, model->limits().positions);
    if (const auto* const transformer = dynamic_cast<const Transformer*>(model.get())) {
      const TransformerConfig& config = transformer->config();
      for (const Json::Member& member : Json::Object{{"norm", config.norm == NormPlace::post ? "post" : "pre"},
                                                     {"encoder_layers", config.encoder_layers},
                                                     {"decoder_layers", config.decoder_layers},
                                                     {"model", config.model},
                                                     {"encoder_heads", config.encoder_heads},
                                                     {"decoder_heads", config.decoder_heads},
                                                     {"encoder_ffn", config.encoder_ffn},
                                                     {"decoder_ffn", config.decoder_ffn}})
        description.push_back(member);
      const Tokenizer tokenizer = Tokenizer::Load(folder);
      description.push_back({"vocabulary", tokenizer.size()});
      description.push_back({"source_tokenizer", Name(tokenizer.algorithm(Side::source))});
      description.push_back({"target_tokenizer", Name(tokenizer.algorithm(Side::target))});
      return description;
    }
  }
  description.push_back({"vocabulary", TokenizerPipeline::Load(folder).size()});
  return description;
}

void Run(const Options& options) {
  const Json description = Describe(options.folder);
  if (options.json) return WriteResult(description.Line() + "\n");
  for (const Json::Member& member : *description.As<Json::Object>()) {
    const auto* text = member.value.As<std::string>();
    WriteResult(fmt::format("{:18}{}\n", member.name, text != nullptr ? *text : member.value.Line()));
  }
}

}  // namespace

void AddInfo(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("info", "Say what a model folder holds: family, sizes, memory, tokenizer");
  const auto options = std::make_shared<Options>();
  command.add_option("DIR", options->folder, "The model's folder")->required();
  command.add_flag("--json", options->json, "Print JSON");
  AddCommonOptions(command);
  command.footer(
      "\nmemory_bytes is what the weights take when the model is loaded to be used.\n\n"
      "Example:\n  headlight info model --json");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight

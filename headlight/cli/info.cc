// headlight info: what a model folder holds.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/io/json.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "headlight/text/tokenizer.h"
#include "headlight/text/tokenizer_pipeline.h"

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

Json DescribeLanguageModel(const std::string& folder, const std::string& family) {
  const auto model = LoadLanguageModel(folder, {.purpose = LoadFor::computing});
  return Json::Object{
      {"family", family},
      {"positions", model->limits().positions},
      {"parameters", model->parameters().count()},
      {"compute", kernels::Name(model->parameters().all().front().compute)},
      {"memory_bytes", Bytes(model->parameters())},
      {"vocabulary", TokenizerPipeline::Load(folder).size()},
  };
}

Json Describe(const std::string& folder) {
  const ModelFolder files = OpenModelFolder(folder);
  const std::string family = files.config["model_type"].String();
  if (FamilyOf(files).language_model != nullptr) return DescribeLanguageModel(folder, family);
  const auto model = LoadTransformer(folder, {.purpose = LoadFor::computing});
  const TransformerConfig& config = model->config();
  const Tokenizer tokenizer = Tokenizer::Load(folder);
  return Json::Object{
      {"family", family},
      {"norm", config.norm == NormPlace::post ? "post" : "pre"},
      {"encoder_layers", config.encoder_layers},
      {"decoder_layers", config.decoder_layers},
      {"model", config.model},
      {"encoder_heads", config.encoder_heads},
      {"decoder_heads", config.decoder_heads},
      {"encoder_ffn", config.encoder_ffn},
      {"decoder_ffn", config.decoder_ffn},
      {"positions", config.positions},
      {"parameters", model->parameters().count()},
      {"compute", kernels::Name(model->parameters().all().front().compute)},
      {"memory_bytes", Bytes(model->parameters())},
      {"vocabulary", tokenizer.size()},
      {"source_tokenizer", Name(tokenizer.algorithm(Side::source))},
      {"target_tokenizer", Name(tokenizer.algorithm(Side::target))},
  };
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
      "\nmemory_bytes is what the weights take when the model is loaded to translate or generate.\n\nExample:\n  "
      "headlight info "
      "model --json");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight

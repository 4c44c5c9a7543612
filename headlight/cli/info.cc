// headlight info: what a model folder holds.
#include <memory>
#include <string>
#include <utility>

#include "headlight/base/json.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

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

Json Describe(const std::string& folder) {
  const ModelFolder files = OpenModelFolder(folder);
  const std::unique_ptr<Model> model = FamilyOf(files).load(files, {.purpose = LoadFor::computing});
  const Parameters& parameters = model->parameters();
  Json::Object description = {{"family", files.config["model_type"].String()},
                              {"parameters", parameters.count()},
                              {"compute", Name(parameters.all().front().compute)},
                              {"memory_bytes", Bytes(parameters)}};
  for (Json::Member& member : model->Description()) description.push_back(std::move(member));
  if (dynamic_cast<const Transformer*>(model.get()) == nullptr) {
    description.push_back({"vocabulary", PipelineTokenizer::Load(folder).size()});
    return description;
  }
  const MarianTokenizer tokenizer = MarianTokenizer::Load(folder);
  description.push_back({"vocabulary", tokenizer.size()});
  description.push_back({"source_tokenizer", Name(tokenizer.algorithm(Side::source))});
  description.push_back({"target_tokenizer", Name(tokenizer.algorithm(Side::target))});
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
  const auto [command, options] =
      NewCommand(program, "info", "Describe a model folder: family, sizes, memory, tokenizer", Run);
  command.add_option("DIR", options.folder, "The model's folder")->required()->check(Folder());
  command.add_flag("--json", options.json, "Print one JSON object");
  command.footer(
      "\nmemory_bytes is what the weights take when the model is loaded to be used.\n\n"
      "Example:\n  headlight info model --json");
}

}  // namespace headlight

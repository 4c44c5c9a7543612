#include "headlight/cli/esm_training.h"

#include <map>

#include "headlight/base/option_checks.h"
#include "headlight/text/tokenizers/esm_tokenizer.h"

namespace headlight {
namespace {

// The sizes of the published models and how they were trained (Lin et al., "Evolutionary-scale prediction of
// atomic-level protein structure with a language model", 2023, supplementary materials).
OptionValues Published(const char* layers, const char* model, const char* heads) {
  return {{"--layers", layers},    {"--model-dim", model},        {"--heads", heads},       {"--dropout", "0"},
          {"--positions", "1024"}, {"--learning-rate", "0.0004"}, {"--schedule", "linear"}, {"--weight-decay", "0.01"}};
}

const std::map<std::string, OptionValues> kPresets = {{"esm2-8m", Published("6", "320", "20")},
                                                      {"esm2-35m", Published("12", "480", "20")},
                                                      {"esm2-150m", Published("30", "640", "20")},
                                                      {"esm2-650m", Published("33", "1280", "20")},
                                                      {"esm2-3b", Published("36", "2560", "40")}};

}  // namespace

void AddEsmPresets(OptionTable& command, std::string& preset) {
  command
      .Add("--preset", preset,
           "An ESM-2 of this size with its own tokenizer, and its paper's settings to start from; for sequences "
           "of residues")
      .Check(OneOf({"esm2-8m", "esm2-35m", "esm2-150m", "esm2-650m", "esm2-3b"}))
      .Excludes(command.Get("--from"))
      .Excludes(command.Get("--tokenizer"))
      .Type("esm2-8m|esm2-35m|esm2-150m|esm2-650m|esm2-3b");
}

void BeginEsmTraining(TextTrainingOptions& options, const std::string& preset) {
  SetUnlessGiven(options, kPresets.at(preset));
  options.tokenizer_json = EsmTokenizerJson().Text();
}

std::unique_ptr<Esm> NewEsm(const TextTrainingOptions& options, const TextHeadsConfig& heads) {
  EsmConfig config;
  BertConfig& encoder = config.encoder;
  encoder.model = options.sizes.model;
  encoder.layers = options.sizes.layers;
  encoder.heads = options.sizes.heads;
  encoder.ffn = options.sizes.inner();
  encoder.dropout = options.new_dropout();
  encoder.attention_dropout = options.new_attention_dropout();
  encoder.positions = options.positions + encoder.pad_id + 1;
  encoder.on_top = heads;
  auto model = std::make_unique<Esm>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

}  // namespace headlight

#include "headlight/recipes/esm_training.h"

#include <map>

#include "headlight/base/option_checks.h"

namespace headlight {
namespace {

// Returns the sizes and training settings of a published ESM-2 (Lin et al., "Evolutionary-scale prediction of
// atomic-level protein structure with a language model", 2023, supplementary materials).
OptionValues Published(const char* layers, const char* model, const char* heads) {
  return {{"--layers", layers},    {"--model-dim", model},        {"--heads", heads},       {"--dropout", "0"},
          {"--positions", "1024"}, {"--learning-rate", "0.0004"}, {"--schedule", "linear"}, {"--weight-decay", "0.01"}};
}

const std::map<std::string, OptionValues> kEsmPresets = {{"esm2-8m", Published("6", "320", "20")},
                                                         {"esm2-35m", Published("12", "480", "20")},
                                                         {"esm2-150m", Published("30", "640", "20")},
                                                         {"esm2-650m", Published("33", "1280", "20")},
                                                         {"esm2-3b", Published("36", "2560", "40")}};

}  // namespace

void AddEsmPresets(OptionTable& table, std::string& preset) {
  table
      .Add("--preset", preset,
           "An ESM-2 of this size with its own tokenizer, and the paper's dropout, peak learning rate and weight "
           "decay as defaults; for sequences of residues")
      .Check(OneOf({"esm2-8m", "esm2-35m", "esm2-150m", "esm2-650m", "esm2-3b"}))
      .Excludes(table.Get("--from"))
      .Excludes(table.Get("--tokenizer"))
      .Type("esm2-8m|esm2-35m|esm2-150m|esm2-650m|esm2-3b");
}

const OptionValues& EsmPreset(const std::string& preset) { return PresetOf(kEsmPresets, preset); }

std::unique_ptr<Esm> NewEsm(const TextTraining& options, const TrainingPlan& plan, const TextHeadsConfig& heads) {
  EsmConfig config;
  BertConfig& encoder = config.encoder;
  SetSizes(plan, encoder);
  encoder.positions = options.longest() + encoder.pad_id + 1;
  encoder.on_top = heads;
  auto model = std::make_unique<Esm>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

}  // namespace headlight

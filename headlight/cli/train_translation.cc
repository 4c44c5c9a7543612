// headlight train translation: raw parallel text to a model folder.
#include <map>
#include <memory>

#include "headlight/base/error.h"
#include "headlight/cli/choice.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_run.h"
#include "headlight/cli/translation_training.h"
#include "headlight/io/config_table.h"

namespace headlight::train_translation {
namespace {

// The options that a preset sets where the user gives none.
using Preset = std::map<std::string, std::string>;
const std::map<std::string, Preset> kPresets = {
    // The paper's base model (Vaswani et al., 2017, table 3).
    {"base", {}},
    // Multi30k and other corpora of a few ten thousand sentences; chosen on its validation set.
    {"multi30k",
     {{"--layers", "3"},
      {"--model-dim", "256"},
      {"--heads", "4"},
      {"--ffn-dim", "512"},
      {"--dropout", "0.2"},
      {"--attention-dropout", "0.1"},
      {"--schedule", "cosine"},
      {"--warmup", "1000"},
      {"--learning-rate", "0.002"},
      {"--batch-tokens", "2500"},
      {"--epochs", "24"}}},
};

struct Flags {
  TranslationTraining training;
  std::vector<std::string> train, valid;
  std::string preset;
  int layers = 6, decoder_layers = 0;
  std::int32_t heads = 8;
  std::int64_t ffn = 2048;
  double attention_dropout = -1;
  ComputeChoice compute = ComputeChoice::automatic;
  const OptionTable* command = nullptr;
};

void Run(Flags& flags) {
  TranslationTraining& t = flags.training;
  t.train_source = flags.train[0];
  t.train_target = flags.train[1];
  CheckValidation(!flags.valid.empty(), t.validate_split);
  if (!flags.valid.empty()) {
    t.valid_source = flags.valid[0];
    t.valid_target = flags.valid[1];
  }
  t.model.encoder_layers = flags.layers;
  t.model.decoder_layers = flags.decoder_layers > 0 ? flags.decoder_layers : flags.layers;
  Check(t.model.model % flags.heads == 0, "--heads {} does not divide --model-dim {}", flags.heads, t.model.model);
  t.model.encoder_heads = t.model.decoder_heads = flags.heads;
  t.model.encoder_ffn = t.model.decoder_ffn = flags.ffn;
  t.model.attention_dropout = flags.attention_dropout < 0 ? t.model.dropout : flags.attention_dropout;
  t.training.schedule.model = t.model.model;
  t.compute = Chosen(flags.compute);
  t.vocabulary.seed = t.training.seed;
  CompleteTrainingOptions(t.training);
  CheckConfig([&] {  // before the vocabulary is learned, which takes long
    TransformerConfig config = t.model;
    config.source_vocabulary = config.target_vocabulary = std::max<std::int64_t>(1, t.vocabulary.size);
    return config;
  }());
  t.quiet = Quiet();
  t.command = flags.command;
  TrainTranslation(t);
}

}  // namespace

void Add(Command& train) {
  auto flags = std::make_shared<Flags>();
  TranslationTraining& t = flags->training;
  Command& command = train.AddCommand("translation", "Train a translation model on parallel text");
  flags->command = &command;
  command.footer =
      "Examples:\n"
      "  headlight train translation --train train.de train.en --valid val.de val.en --out model --preset multi30k\n"
      "  headlight train translation --train a.gz b.gz --valid c d --out model --layers 4 --minutes 30 --resume";
  command.Add("--train", flags->train, "Source and target text, line by line a pair, plain or gzip")
      .Required()
      .Values(2)
      .Type("SRC TGT");
  command.Add("--valid", flags->valid, "Source and target text to validate on").Values(2).Type("SRC TGT");
  AddValidateSplit(command, t.validate_split);
  command.Add("--out", t.out, "Folder for the model and the training's state").Required().Type("DIR");
  Option& preset =
      command.Add("--preset", flags->preset, "Settings to start from: the paper's base model, or Multi30k's")
          .Check(OneOf({"base", "multi30k"}))
          .Type("base|multi30k");

  const auto add = [&](const char* group, const char* name, auto& value, const OptionCheck& check,
                       const char* description) -> Option& {
    return command.Add(name, value, check, description).ShowDefault().Group(group);
  };
  add("Model", "--layers", flags->layers, Between(1, 1024), "Layers of the encoder and of the decoder");
  add("Model", "--decoder-layers", flags->decoder_layers, Between(1, 1024), "Layers of the decoder [as --layers]")
      .Default("");
  add("Model", "--model-dim", t.model.model, AtLeast(1), "Size of embeddings and layers");
  add("Model", "--heads", flags->heads, AtLeast(1), "Attention heads");
  add("Model", "--ffn-dim", flags->ffn, AtLeast(1), "Inner size of the feed-forward network");
  add("Model", "--dropout", t.model.dropout, NumberBelow(0, 1), "Dropout of embeddings and sublayers");
  add("Model", "--attention-dropout", flags->attention_dropout, NumberBelow(0, 1),
      "Dropout of attention weights [as --dropout]")
      .Default("");
  AddChoice<NormPlace>(command, "--norm", t.model.norm, {{"post", NormPlace::post}, {"pre", NormPlace::pre}},
                       "LayerNorm after each sublayer, as in the paper, or before")
      .Group("Model");
  AddChoice<Activation>(command, "--activation", t.model.activation,
                        {{"relu", Activation::relu}, {"gelu", Activation::gelu}, {"silu", Activation::silu}},
                        "Activation of the feed-forward network")
      .Group("Model");
  const auto add_untied = [&](const char* name, bool& tied, const char* description) {
    command
        .AddFlag(
            name, [&tied] { tied = false; }, description)
        .Group("Model");
  };
  add_untied("--no-tie-source-target", t.model.tie_source_target, "Separate embeddings for source and target");
  add_untied("--no-tie-output", t.model.tie_output, "A separate matrix for the output layer, not the embeddings");

  add("Text", "--vocabulary-size", t.vocabulary.size, Between(1, 1 << 24), "Most subwords, of both languages together");
  AddChoice<SubwordAlgorithm>(command, "--vocabulary", t.vocabulary.algorithm,
                              {{"bpe", SubwordAlgorithm::bpe}, {"unigram", SubwordAlgorithm::unigram}},
                              "Subword algorithm")
      .Group("Text");
  add("Text", "--bpe-dropout", t.bpe_dropout, NumberBelow(0, 1), "Probability that a merge is left out in training");
  add("Text", "--max-length", t.corpus.max_length, AtLeast(1),
      "Leave out sentences of more tokens; the model reads as many, and at least 511");
  add("Text", "--max-ratio", t.corpus.max_ratio, NumberFrom(1),
      "Leave out pairs whose lengths differ by a larger factor");

  t.training.schedule.warmup = kWarmupUnlessGiven;
  AddTrainingOptions(command, t.training, t.teacher_forcing.batches, flags->compute, t.profile, t.resume);
  command.Get("--warmup").Describe("Steps of linear warm-up to the peak [4000, or a tenth of at most 8000]");
  AddLabelSmoothing(command, t.teacher_forcing.label_smoothing);
  AddRDrop(command, t.teacher_forcing);
  command.run = [&command, &preset, flags] {
    if (preset.given()) {
      for (const auto& [name, value] : kPresets.at(flags->preset)) {
        Option& option = command.Get(name);
        if (!option.given()) option.Give({value});
      }
    }
    Run(*flags);
  };
}

}  // namespace headlight::train_translation

#include "headlight/cli/text_training.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/training_run.h"
#include "headlight/io/model_folder.h"
#include "headlight/nn/encoder_decoder.h"
#include "headlight/nn/language_model.h"
#include "headlight/nn/text_encoder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"

namespace headlight {

void AddTextTrainingOptions(CLI::App& command, TextTrainingOptions& options, const std::string& texts) {
  options.training.schedule = {.kind = ScheduleKind::cosine, .warmup = kWarmupUnlessGiven, .peak = 1e-3};
  options.training.adam.clip_norm = 1;
  options.command = &command;
  command.add_option("--train", options.train, "Text to train on: " + texts)->required()->type_name("FILE");
  command.add_option("--valid", options.valid, "Text to validate on, likewise")->type_name("FILE");
  AddValidateSplit(command, options.validate_split);
  command.add_option("--out", options.out, "Folder for the model and the training's state")
      ->required()
      ->type_name("DIR");
  CLI::Option* from = command.add_option("--from", options.from, "Folder of a model to fine-tune, with its tokenizer");
  from->check(Folder())->type_name("DIR");
  command.add_option("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      ->check(Folder())
      ->excludes(from)
      ->type_name("DIR");
  ModelSizes& sizes = options.sizes;
  const auto add_size = [&](const char* name, auto& value, const char* description) {
    return AddNumber(command, name, value, AtLeast(1), description)->excludes(from)->group("A model from scratch");
  };
  add_size("--layers", sizes.layers, "Layers")->capture_default_str();
  add_size("--model-dim", sizes.model, "Size of embeddings and layers")->capture_default_str();
  add_size("--heads", sizes.heads, "Attention heads")->capture_default_str();
  add_size("--ffn-dim", sizes.ffn, "Inner size of the feed-forward network [4 times the model's]");
  add_size("--positions", sizes.positions, "Tokens of the longest text")->capture_default_str();
  AddNumber(command, "--dropout", options.dropout, NumberBelow(0, 1),
            "Dropout of embeddings, sublayers and attention [0.1; with --from the model's own]")
      ->group("Training");
  AddNumber(command, "--attention-dropout", options.attention_dropout, NumberBelow(0, 1),
            "Dropout of attention weights [as --dropout]")
      ->group("Training");
  AddTrainingOptions(command, options.training, options.batches, options.compute, options.profile, options.resume);
  const auto describe = [&](const char* name, const char* description) {
    command.get_option(name)->default_str("")->description(description);
  };
  describe("--epochs", "Stop after N epochs [20, unless another end is given; with --from 3]");
  describe("--warmup", "Steps of linear warm-up to the peak [200, or a tenth of at most 400; with --from a tenth]");
  describe("--schedule", "Learning rate schedule after the warm-up [cosine; with --from linear]");
  describe("--learning-rate", "Peak learning rate [0.001; with --from 0.00005]");
  describe("--weight-decay", "AdamW's weight decay [0; with --from 0.01]");
}

namespace {

// The usual settings of fine-tuning, as in Devlin et al., "BERT", 2019, appendix A.3.
void SetFineTuningDefaults(TextTrainingOptions& options) {
  const auto given = [&](const char* name) { return !options.command->get_option(name)->empty(); };
  TrainingOptions& training = options.training;
  if (!given("--schedule")) training.schedule.kind = ScheduleKind::linear;
  if (!given("--learning-rate")) training.schedule.peak = 5e-5;
  if (!given("--weight-decay")) training.adam.weight_decay = 0.01;
  if (!given("--epochs") && !given("--steps") && !given("--minutes")) training.epochs = 3;
}

}  // namespace

TrainingFolder BeginTextTraining(TextTrainingOptions& options) {
  if (!options.from_scratch()) SetFineTuningDefaults(options);
  CompleteTrainingOptions(options.training);
  Check(options.from.empty() != options.tokenizer.empty(),
        "either --from DIR, to fine-tune a model, or --tokenizer DIR, for one from scratch");
  CheckValidation(!options.valid.empty(), options.validate_split);
  Chosen(options.compute);
  if (options.validate_split > 0) CheckNoPipe(options.train);
  CheckReadable(options.train);
  CheckReadable(options.valid);
  options.batches.seed = options.training.seed;
  options.training.schedule.model = options.sizes.model;
  return TrainingFolder(options.out, options.resume);
}

std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<std::int32_t> id = tokenizer.Find(name)) return *id;
  Fail("{}: the tokenizer has no {}: none of {}", folder, what, fmt::join(names, ", "));
}

void SetSpecialTokens(const PipelineTokenizer& tokenizer, const std::string& folder, MaskingOptions& masking) {
  masking.mask_id = TokenOf(tokenizer, folder, "mask", {"[MASK]", "<mask>"});
  for (std::int32_t id = 0; id < tokenizer.size(); ++id)
    if (tokenizer.IsSpecial(id)) masking.special_ids.push_back(id);
}

void NoteTexts(TrainingProgress& progress, const std::vector<std::string>& paths, const TextShare& share,
               const TextExamples& read) {
  CheckNotEmpty(read.texts.size(), "texts", paths, share);
  progress.Note(
      fmt::format("{}: {} texts, {} tokens{}", fmt::join(paths, ", "), read.texts.size(), read.tokens,
                  read.cut > 0 ? fmt::format("; {} longer than the model are cut into pieces", read.cut) : ""));
  for (const std::string& warning : read.warnings) progress.Note("warning: " + warning);
}

namespace {

TokenizerOfModel ReadsAs(const Model& model) {
  if (const auto* encoder = dynamic_cast<const TextEncoder*>(&model))
    return {.longest = encoder->limits().positions, .reads_types = encoder->limits().types > 1};
  if (const auto* language = dynamic_cast<const LanguageModel*>(&model))
    return {.longest = language->limits().positions, .pads_left = true};
  return {.longest = dynamic_cast<const EncoderDecoder&>(model).limits().positions};
}

}  // namespace

void RunTextTraining(const TrainingTask& task, TextTrainingOptions& options, const char* name, const std::string& use,
                     std::uint64_t corpus_hash, Json of, TrainingProgress& progress) {
  of.Set("task", name);
  of.Set("corpus_hash", fmt::format("{:016x}", corpus_hash));
  of.Set("parameters", task.model->parameters().count());
  const ModelSizes& sizes = options.sizes;
  if (options.from_scratch()) {
    of.Set("layers", sizes.layers);
    of.Set("model_dim", sizes.model);
    of.Set("heads", sizes.heads);
    of.Set("ffn_dim", sizes.inner());
    of.Set("positions", sizes.positions);
    of.Set("dropout", options.new_dropout());
    of.Set("attention_dropout", options.new_attention_dropout());
  } else {
    of.Set("dropout", options.dropout ? Json(*options.dropout) : Json());
    of.Set("attention_dropout", options.attention_dropout ? Json(*options.attention_dropout) : Json());
  }
  of.Set("batch_tokens", options.batches.batch_tokens);
  RunTraining(task, options.training,
              {.out = options.out,
               .use = use,
               .of = std::move(of),
               .save =
                   [&](const std::string& to) {
                     task.model->Save(to);
                     if (options.from_scratch())
                       CopyTokenizer(options.tokenizer, to);
                     else
                       CopyBesideModel(options.from, to);
                     WriteFastTokenizerConfig(to, ReadsAs(*task.model));
                   },
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile,
               .fine_tuning = !options.from_scratch()},
              progress);
}

}  // namespace headlight

#include "headlight/cli/model_training.h"

#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/training_run.h"

namespace headlight {

Option& AddModelTrainingOptions(OptionTable& command, ModelTrainingOptions& options, const ModelTrainingWords& words) {
  TrainingOptions& training = options.training;
  training.schedule = {.kind = ScheduleKind::cosine, .warmup = kWarmupUnlessGiven, .peak = 1e-3};
  training.adam.clip_norm = 1;
  options.command = &command;
  command.Add("--train", options.train, words.train).Required().Type("FILE");
  if (!words.valid.empty()) {
    command.Add("--valid", options.valid, words.valid).Type("FILE");
    AddValidateSplit(command, options.validate_split);
  }
  command.Add("--out", options.out, "Folder for the model and the training's state").Required().Type("DIR");
  Option& from = command.Add("--from", options.from, words.from);
  from.Check(ExistingFolder()).Type("DIR");
  ModelSizes& sizes = options.sizes;
  const auto add_size = [&](const char* name, auto& value, const char* description) -> Option& {
    return command.Add(name, value, Between(1, 1 << 15), description).Excludes(from).Group(kModelGroup);
  };
  add_size("--layers", sizes.layers, "Layers").ShowDefault();
  add_size("--model-dim", sizes.model, "Size of embeddings and layers").ShowDefault();
  add_size("--heads", sizes.heads, "Attention heads").ShowDefault();
  add_size("--ffn-dim", sizes.ffn, "Inner size of the feed-forward network [4 times the model's]");
  const auto add_dropout = [&](const char* name, auto& value, const std::string& description) {
    command.Add(name, value, NumberBelow(0, 1), description).Group("Training");
  };
  add_dropout("--dropout", options.dropout,
              fmt::format("Dropout of embeddings, sublayers and attention [{}; with --from the model's own]",
                          options.usual_dropout));
  add_dropout("--attention-dropout", options.attention_dropout, "Dropout of attention weights [as --dropout]");
  AddTrainingOptions(command, training, options.batches, options.compute, options.profile, options.resume, words.unit);
  Describe(command, "--epochs",
           fmt::format("Stop after N epochs [20, unless another end is given; with --from {}]", options.tuning_epochs));
  Describe(command, "--warmup",
           "Steps of linear warm-up to the peak [200, or a tenth of at most 400; with --from a tenth]");
  Describe(command, "--learning-rate", fmt::format("Peak learning rate [0.001; with --from {}]", options.tuning_rate));
  return from;
}

ModelTrainingWords WordsOfPictures(std::string from) {
  return {.train =
              "Pictures to train on: files, folders of them at any depth, IDX files, or .csv, .jsonl and .tsv "
              "files of paths",
          .valid = "Pictures to validate on, likewise",
          .from = std::move(from),
          .unit = {"--batch-size", "Pictures per batch"}};
}

void Describe(OptionTable& command, const std::string& option, const std::string& description) {
  command.Get(option).Default("").Describe(description);
}

void SetUnlessGiven(const ModelTrainingOptions& options, const OptionValues& values) {
  const TrainingOptions& training = options.training;
  const bool has_end = training.epochs > 0 || training.steps > 0 || training.minutes > 0;
  for (const auto& [name, value] : values) {
    Option& option = options.command->Get(name);
    const bool is_size = option.group() == kModelGroup;
    if (option.given() || (is_size && !options.from_scratch()) || (name == "--epochs" && has_end)) continue;
    option.Give({value});
  }
}

void CompleteModelTraining(ModelTrainingOptions& options) {
  TrainingOptions& training = options.training;
  const bool has_end = training.epochs > 0 || training.steps > 0 || training.minutes > 0;
  if (!options.from_scratch() && !options.given("--learning-rate")) training.schedule.peak = options.tuning_rate;
  if (!options.from_scratch() && !has_end) training.epochs = options.tuning_epochs;
  CompleteTrainingOptions(training);
  if (options.command->Find("--valid") != nullptr) CheckValidation(!options.valid.empty(), options.validate_split);
  Check(!options.from_scratch() || options.sizes.model % options.sizes.heads == 0,
        "--heads {} does not divide --model-dim {}", options.sizes.heads, options.sizes.model);
  Chosen(options.compute);
  options.batches.seed = training.seed;
  training.schedule.model = options.sizes.model;
}

void RunModelTraining(const TrainingTask& task, ModelTrainingOptions& options, const char* name, const std::string& use,
                      std::uint64_t corpus_hash, Json of, const std::function<void(const std::string& folder)>& save,
                      TrainingProgress& progress) {
  of.Set("task", name);
  of.Set("corpus_hash", fmt::format("{:016x}", corpus_hash));
  of.Set("parameters", task.model->parameters().count());
  if (options.from_scratch()) {
    const ModelSizes& sizes = options.sizes;
    of.Set("layers", sizes.layers);
    of.Set("model_dim", sizes.model);
    of.Set("heads", sizes.heads);
    of.Set("ffn_dim", sizes.inner());
    of.Set("dropout", options.new_dropout());
    of.Set("attention_dropout", options.new_attention_dropout());
  } else {
    of.Set("dropout", options.dropout ? Json(*options.dropout) : Json());
    of.Set("attention_dropout", options.attention_dropout ? Json(*options.attention_dropout) : Json());
  }
  RunTraining(task, options.training,
              {.out = options.out,
               .use = use,
               .of = std::move(of),
               .validation = options.valid,
               .command = options.command,
               .save = save,
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile,
               .fine_tuning = !options.from_scratch()},
              progress);
}

}  // namespace headlight

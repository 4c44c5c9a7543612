#include "headlight/cli/training_options.h"

#include <CLI/CLI.hpp>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"

namespace headlight {

void AddTrainingOptions(CLI::App& command, TrainingOptions& training, BatchOptions& batches, ComputeChoice& compute,
                        bool& profile, bool& resume) {
  const auto add = [&](const char* name, auto& value, const char* description) {
    return command.add_option(name, value, description)->group("Training");
  };
  const auto add_with_default = [&](const char* name, auto& value, const char* description) {
    return add(name, value, description)->capture_default_str();
  };
  add_with_default("--batch-tokens", batches.batch_tokens, "tokens a batch: of the target, where there is one");
  add_with_default("--accumulation", training.accumulation, "batches a step");
  add("--epochs", training.epochs, "end after so many (20 unless another end is given)");
  add("--steps", training.steps, "end after so many steps");
  add("--minutes", training.minutes, "end after so many minutes");
  AddChoice<ScheduleKind>(command, "--schedule", training.schedule.kind,
                          {{"paper", ScheduleKind::paper},
                           {"inverse-square-root", ScheduleKind::inverse_square_root},
                           {"cosine", ScheduleKind::cosine},
                           {"linear", ScheduleKind::linear}},
                          "of the learning rate, after its warm-up")
      ->group("Training");
  add_with_default("--warmup", training.schedule.warmup, "steps until the learning rate's peak");
  if (training.schedule.peak > 0)
    add_with_default("--learning-rate", training.schedule.peak, "the peak");
  else
    add("--learning-rate", training.schedule.peak, "the peak; the paper's (model * warmup)^-0.5 unless given");
  add_with_default("--weight-decay", training.adam.weight_decay, "AdamW's");
  add_with_default("--layer-decay", training.adam.layer_decay,
                   "factor of the learning rate from each layer to the one below it");
  command
      .add_option_function<std::vector<std::string>>(
          "--freeze",
          [&training](const std::vector<std::string>& patterns) {
            for (const std::string& pattern : patterns)
              training.adam.groups.push_back({.pattern = pattern, .frozen = true});
          },
          "parameters that keep their values, by name: * stands for any characters")
      ->type_name("PATTERN")
      ->group("Training");
  add_with_default("--clip-norm", training.adam.clip_norm, "largest norm of a gradient; 0: any");
  add_with_default("--average-decay", training.adam.average_decay, "of a moving average of the weights; 0: none");
  add_with_default("--average-last", training.average_last, "validations whose weights are averaged at the end");
  add("--validate-every", training.validate_every, "steps; each epoch unless given");
  add_with_default("--patience", training.patience, "validations without a better one until it stops; 0: any");
  AddTrainingCompute(command, compute)->group("Training");
  command.add_flag("--profile", profile, "tell after fifty steps where their time went")->group("Training");
  add_with_default("--log-every", training.log_every, "steps between lines of the log; 0: no lines")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  add_with_default("--seed", training.seed, "the same seed is the same run");

  command.add_flag("--resume", resume, "go on with the training in --out, or begin it");
}

void AddLabelSmoothing(CLI::App& command, double& label_smoothing) {
  command.add_option("--label-smoothing", label_smoothing, "share of the probability that is spread over all words")
      ->capture_default_str()
      ->group("Training");
}

void CompleteTrainingOptions(TrainingOptions& training) {
  if (training.epochs == 0 && training.steps == 0 && training.minutes == 0) training.epochs = 20;
  Check(!FallsToZero(training.schedule.kind) || training.epochs > 0 || training.steps > 0,
        "--schedule cosine and linear fall to zero at the end, which --epochs or --steps must give");
}

}  // namespace headlight

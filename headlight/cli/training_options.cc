#include "headlight/cli/training_options.h"

#include <CLI/CLI.hpp>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"

namespace headlight {

void AddTrainingOptions(CLI::App& command, TrainingOptions& training, BatchOptions& batches, ComputeChoice& compute,
                        bool& profile, bool& resume) {
  command.add_option("--batch-tokens", batches.batch_tokens, "tokens a batch: of the target, where there is one")
      ->capture_default_str()
      ->group("Training");
  command.add_option("--accumulation", training.accumulation, "batches a step")
      ->capture_default_str()
      ->group("Training");
  command.add_option("--epochs", training.epochs, "end after so many (20 unless another end is given)")
      ->group("Training");
  command.add_option("--steps", training.steps, "end after so many steps")->group("Training");
  command.add_option("--minutes", training.minutes, "end after so many minutes")->group("Training");
  AddChoice<ScheduleKind>(command, "--schedule", training.schedule.kind,
                          {{"paper", ScheduleKind::paper},
                           {"inverse-square-root", ScheduleKind::inverse_square_root},
                           {"cosine", ScheduleKind::cosine},
                           {"linear", ScheduleKind::linear}},
                          "of the learning rate, after its warm-up")
      ->group("Training");
  command.add_option("--warmup", training.schedule.warmup, "steps until the learning rate's peak")
      ->capture_default_str()
      ->group("Training");
  CLI::Option* peak = command.add_option("--learning-rate", training.schedule.peak, "the peak")->group("Training");
  if (training.schedule.peak > 0)
    peak->capture_default_str();
  else
    peak->description("the peak; the paper's (model * warmup)^-0.5 unless given");
  command.add_option("--weight-decay", training.adam.weight_decay, "AdamW's")->capture_default_str()->group("Training");
  command
      .add_option("--layer-decay", training.adam.layer_decay,
                  "factor of the learning rate from each layer to the one below it")
      ->capture_default_str()
      ->group("Training");
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
  command.add_option("--clip-norm", training.adam.clip_norm, "largest norm of a gradient; 0: any")
      ->capture_default_str()
      ->group("Training");
  command.add_option("--average-decay", training.adam.average_decay, "of a moving average of the weights; 0: none")
      ->capture_default_str()
      ->group("Training");
  command.add_option("--average-last", training.average_last, "validations whose weights are averaged at the end")
      ->capture_default_str()
      ->group("Training");
  command.add_option("--validate-every", training.validate_every, "steps; each epoch unless given")->group("Training");
  command.add_option("--patience", training.patience, "validations without a better one until it stops; 0: any")
      ->capture_default_str()
      ->group("Training");
  AddTrainingCompute(command, compute)->group("Training");
  command.add_flag("--profile", profile, "tell after fifty steps where their time went")->group("Training");
  command.add_option("--log-every", training.log_every, "steps between lines of the log; 0: no lines")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->capture_default_str()
      ->group("Training");
  command.add_option("--seed", training.seed, "the same seed is the same run")
      ->capture_default_str()
      ->group("Training");

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

#include "headlight/cli/training_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/mpi_ranks.h"

namespace headlight {

namespace {

// Of "encoder.*=0.1".
ParameterGroup RateOf(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  Check(equals != std::string::npos && equals > 0, "--rate {}: expected PATTERN=FACTOR, such as encoder.*=0.1", text);
  ParameterGroup group{.pattern = text.substr(0, equals)};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, group.rate_factor);
  Check(error == std::errc() && stop == end && std::isfinite(group.rate_factor) && group.rate_factor >= 0,
        "--rate {}: the factor must be a number of at least 0", text);
  return group;
}

}  // namespace

void AddTrainingOptions(OptionTable& command, TrainingOptions& training, BatchOptions& batches, ComputeChoice& compute,
                        bool& profile, bool& resume, const BatchUnit& unit) {
  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) -> Option& {
    return command.Add(name, value, check, description).Group("Training");
  };
  const auto add_with_default = [&](const char* name, auto& value, const OptionCheck& check,
                                    const char* description) -> Option& {
    return add(name, value, check, description).ShowDefault();
  };
  add_with_default(unit.name, batches.batch_tokens, AtLeast(1), unit.description);
  add_with_default("--accumulation", training.accumulation, AtLeast(1), "Batches per step");
  add("--epochs", training.epochs, AtLeast(1), "Stop after N epochs [20, unless another end is given]");
  add("--steps", training.steps, AtLeast(1), "Stop after N steps");
  add("--minutes", training.minutes, NumberAbove(0), "Stop after X minutes");
  AddChoice<ScheduleKind>(command, "--schedule", training.schedule.kind,
                          {{"paper", ScheduleKind::paper},
                           {"inverse-square-root", ScheduleKind::inverse_square_root},
                           {"cosine", ScheduleKind::cosine},
                           {"linear", ScheduleKind::linear}},
                          "Learning rate schedule after the warm-up")
      .Group("Training");
  add("--warmup", training.schedule.warmup, AtLeast(1), "Steps of linear warm-up to the peak");
  if (training.schedule.peak > 0)
    add_with_default("--learning-rate", training.schedule.peak, NumberAbove(0), "Peak learning rate");
  else
    add("--learning-rate", training.schedule.peak, NumberAbove(0),
        "Peak learning rate [the paper's (model * warmup)^-0.5]");
  add_with_default("--weight-decay", training.adam.weight_decay, NumberFrom(0), "AdamW's weight decay");
  add_with_default("--layer-decay", training.adam.layer_decay, NumberAbove(0, 1),
                   "Factor of the learning rate from each layer to the one below it");
  const auto freeze = [&training](const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) training.adam.groups.push_back({.pattern = pattern, .frozen = true});
  };
  const auto set_rates = [&training](const std::vector<std::string>& factors) {
    for (const std::string& factor : factors) training.adam.groups.push_back(RateOf(factor));
  };
  command
      .Add("--freeze", OptionTarget(freeze, OptionTarget::kMany),
           "Do not train the parameters whose names match; * stands for any characters")
      .Check(NotEmpty())
      .Type("PATTERN")
      .Group("Training");
  command
      .Add("--rate", OptionTarget(set_rates, OptionTarget::kMany),
           "Factor of the learning rate of the parameters whose names match; the first match counts")
      .Check(NotEmpty())
      .Type("PATTERN=FACTOR")
      .Group("Training");
  add_with_default("--clip-norm", training.adam.clip_norm, NumberFrom(0),
                   "Clip the gradient to this norm; 0: do not clip");
  add_with_default("--average-decay", training.adam.average_decay, NumberBelow(0, 1),
                   "Decay of an exponential moving average of the weights; 0: none");
  add_with_default("--average-last", training.average_last, AtLeast(1),
                   "Average the weights of the last N validations at the end");
  add("--validate-every", training.validate_every, AtLeast(1), "Validate every N steps [each epoch]");
  command
      .Add("--validate-metric", training.validate_metric,
           "Choose the best model by this score, such as loss [the task's first]")
      .Check(NotEmpty())
      .Type("NAME")
      .Group("Training");
  add_with_default("--patience", training.patience, AtLeast(0),
                   "Stop after N validations without improvement; 0: never");
  AddTrainingCompute(command, compute).Group("Training");
  AddChoice<GradientType>(
      command, "--gradient-type", training.gradient_type,
      {{"float32", GradientType::float32}, {"bfloat16", GradientType::bfloat16}},
      "Round the gradients of a step's parts and their sums to this type; bfloat16 halves what ranks send")
      .Group("Training");
  command
      .Add("--shard-optimizer", training.shard_optimizer, "Under mpirun, divide the optimizer's state among the ranks")
      .Group("Training");
  command
      .AddFunction(
          "--rank-timeout", [](const std::string& seconds) { SetRankTimeout(NumberOf(seconds).value()); },
          "Under mpirun, end the run after X seconds without an answer from a rank")
      .Check(NumberAbove(0))
      .Type("X")
      .Default("600")
      .Group("Training");
  command.Add("--profile", profile, "Report after fifty steps where their time went").Group("Training");
  add_with_default("--log-every", training.log_every, AtLeast(0), "Log every N steps; 0: never");
  add_with_default("--seed", training.seed, Seed(), "Random seed; the same seed gives the same run");

  command.Add("--resume", resume,
              "Resume the training in --out, or start it; its learning rate follows a new --epochs or --steps");
}

void AddValidateSplit(OptionTable& command, double& share) {
  command.Add("--validate-split", share, NumberBelow(0, 1),
              "Validate on this share of --train, chosen by --seed, in place of --valid");
}

void CheckValidation(bool has_files, double share) {
  Check(!has_files || share == 0, "--validate-split takes the place of --valid: give one of them");
  Check(has_files || share > 0, "--valid FILE ... or --validate-split SHARE is needed, to validate on");
}

void CheckNotEmpty(std::size_t count, const char* things, const std::vector<std::string>& paths,
                   const TextShare& share) {
  const std::string files = fmt::format("{}", fmt::join(paths, ", "));
  Check(count > 0 || share.share > 0, "{}: there are no {} in it", files, things);
  Check(count > 0, "--validate-split {}: of the {} in {} none are {}", share.share, things, files,
        share.held_out ? "held out, to validate on" : "left to learn from");
}

void AddLabelSmoothing(OptionTable& command, double& label_smoothing) {
  command
      .Add("--label-smoothing", label_smoothing, NumberBelow(0, 1),
           "Share of the probability that is spread over all words")
      .ShowDefault()
      .Group("Training");
}

void AddRDrop(OptionTable& command, TeacherForcingOptions& options) {
  command
      .Add("--r-drop", options.r_drop, NumberFrom(0),
           "Weight of the divergence between two passes over each batch with different dropout masks (R-Drop); 0: one "
           "pass")
      .ShowDefault()
      .Group("Training");
  command.Add("--r-drop-after", options.r_drop_after, AtLeast(0), "Epochs before R-Drop starts")
      .ShowDefault()
      .Group("Training");
}

void SetRDrop(const TeacherForcingOptions& options, Json& of) {
  if (options.r_drop == 0) return;
  of.Set("r_drop", options.r_drop);
  of.Set("r_drop_after", options.r_drop_after);
}

void CompleteTrainingOptions(TrainingOptions& training) {
  if (training.epochs == 0 && training.steps == 0 && training.minutes == 0) training.epochs = 20;
  CheckTrainingOptions(training);
  Check(!FallsToZero(training.schedule.kind) || training.epochs > 0 || training.steps == 0 ||
            training.schedule.warmup <= training.steps,
        "--warmup {}: the learning rate falls to zero at --steps {}, and must reach its peak before that",
        training.schedule.warmup, training.steps);
}

}  // namespace headlight

#include "headlight/recipes/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/data/lines.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/metrics.h"
#include "headlight/train/profile_report.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

// Profiles the fifty steps after the first five steps, or fewer if a validation comes earlier, and reports the result.
class StepProfiler {
 public:
  StepProfiler(Compute compute, const TrainingOptions& options, const TrainingObserver& observer)
      : compute_(compute), validate_every_(options.validate_every), ranks_(options.ranks), observer_(observer) {}

  void Step(const StepReport& report) {
    if (done_) return;
    if (first_ == 0 && ++steps_ == 5) {
      machine_ = MeasureMachine(compute_);
      first_ = report.step;
      begin_ = std::chrono::steady_clock::now();
      if (ranks_ != nullptr) {
        sent_ = ranks_->bytes_sent;
        waited_ = ranks_->seconds_waited;
        sending_ = ranks_->seconds_sending;
        hidden_ = ranks_->seconds_hidden;
      }
      StartProfile();
    } else if (first_ != 0 && (report.step == first_ + 50 || Validates(report))) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
      const std::int64_t steps = report.step - first_;
      Note(observer_, ProfileReport(TakeProfile(), steps, seconds.count(), machine_));
      if (ranks_ != nullptr) Note(observer_, RanksReport(*ranks_, static_cast<double>(steps)));
      done_ = true;
    }
  }

 private:
  std::string RanksReport(const Ranks& ranks, double steps) const {
    const double sending = ranks.seconds_sending - sending_, hidden = ranks.seconds_hidden - hidden_;
    return fmt::format(
        "{} ranks; in each step rank 0 sends {:.1f} MB, for {:.2f} ms, of which {:.0f}% pass while it computes; for "
        "{:.2f} ms it waits for others",
        ranks.size(), static_cast<double>(ranks.bytes_sent - sent_) / 1e6 / steps, 1e3 * sending / steps,
        sending > 0 ? 100 * hidden / sending : 0, 1e3 * (ranks.seconds_waited - waited_) / steps);
  }

  bool Validates(const StepReport& report) const {
    return validate_every_ > 0 ? report.step % validate_every_ == 0 : report.batch == report.batches_in_epoch;
  }

  Compute compute_;
  std::int64_t validate_every_;
  const Ranks* ranks_;
  const TrainingObserver& observer_;
  MachineRates machine_;
  std::int64_t steps_ = 0, first_ = 0;
  bool done_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t sent_ = 0;                         // bytes before the profiled steps
  double waited_ = 0, sending_ = 0, hidden_ = 0;  // seconds before the profiled steps
};

// Returns the step at which a decreasing schedule reaches zero, computed from the number of batches in the first epoch.
// Returns 0 if it is unknown.
std::int64_t StepsOf(const TrainingOptions& options, const TrainingTask& task) {
  if (options.epochs == 0) return options.steps;
  const std::int64_t batches = task.batches({})().batches_in_epoch;
  const std::int64_t steps = options.epochs * ((batches + options.accumulation - 1) / options.accumulation);
  return options.steps == 0 ? steps : std::min(steps, options.steps);
}

// Sets the warm-up and the end of the schedule. A resumed run keeps its warm-up, and its schedule ends at the new end
// of the training.
void CompleteSchedule(const TrainingTask& task, const TrainingRun& run, TrainingOptions& options) {
  Schedule& schedule = options.schedule;
  const bool falls = FallsToZero(schedule.kind), choose = schedule.warmup == kWarmupUnlessGiven;
  if (!falls && !choose) return CheckSchedule(schedule);
  const std::int64_t steps = StepsOf(options, task);
  if (falls) schedule.total = steps;
  if (choose) {
    const bool tenth = steps > 0 && (run.fine_tuning || steps <= 2 * run.longest_warmup);
    schedule.warmup = tenth ? std::max<std::int64_t>(1, steps / 10) : run.longest_warmup;
    if (run.resume && HasCheckpoint(CheckpointOf(run.out)))
      schedule.warmup = ReadCheckpointState(CheckpointOf(run.out))["run"].Get("warmup", schedule.warmup).Integer(1);
    // In the schedule of the Transformer paper, the peak depends on the warm-up. After a short warm-up the peak would
    // be too high.
    if (schedule.kind == ScheduleKind::paper && schedule.peak == 0)
      schedule.peak = 1 / std::sqrt(static_cast<double>(schedule.model * run.longest_warmup));
  }
  CheckSchedule(schedule);
}

// Returns the names of the options that can end the training run.
std::string LimitsOf(const TrainingOptions& options) {
  std::vector<const char*> names;
  if (options.epochs > 0) names.push_back("`epochs`");
  if (options.steps > 0) names.push_back("`steps`");
  if (options.minutes > 0) names.push_back("`minutes`");
  if (options.patience > 0) names.push_back("`patience`");
  return fmt::format("{}", fmt::join(names, " or "));
}

// Returns the settings that must not change when a run is resumed. The end of the training may change.
Json RunOf(const TrainingOptions& training, Compute compute, Json run) {
  Json::Array groups;
  for (const ParameterGroup& group : training.adam.groups)
    groups.push_back(Json::Array{group.pattern, group.decay_factor ? Json(*group.decay_factor) : Json(),
                                 group.rate_factor, group.frozen});
  const Json::Object options = {{"seed", training.seed},
                                {"compute", Name(compute)},
                                {"accumulation", training.accumulation},
                                {"schedule", static_cast<int>(training.schedule.kind)},
                                {"warmup", training.schedule.warmup},
                                {"learning_rate", training.schedule.peak},
                                {"beta1", training.adam.beta1},
                                {"beta2", training.adam.beta2},
                                {"epsilon", training.adam.epsilon},
                                {"weight_decay", training.adam.weight_decay},
                                {"layer_decay", training.adam.layer_decay},
                                {"parameter_groups", std::move(groups)},
                                {"clip_norm", training.adam.clip_norm},
                                {"average_decay", training.adam.average_decay},
                                {"average_last", training.average_last},
                                {"validate_every", training.validate_every},
                                {"validate_metric", training.validate_metric}};
  for (const Json::Member& option : options) run.Set(option.name, option.value);
  // Omitted for float32, for compatibility with states without this setting.
  if (training.gradient_type == GradientType::bfloat16) run.Set("gradient_type", "bfloat16");
  return run;
}

// Returns a hash of the contents of files and, for folders, of the names and sizes of their files. Returns "" if no
// file can be read twice.
std::string HashOfFiles(const std::vector<std::string>& paths) {
  Hash64 hash;
  bool any = false;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) {
      hash.Update(MappedFile(path).text());
    } else if (fs::is_directory(path, ignored)) {
      std::vector<std::string> names;
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path, ignored))
        if (entry.is_regular_file(ignored))
          names.push_back(
              fmt::format("{} {}\n", entry.path().lexically_relative(path).string(), entry.file_size(ignored)));
      std::ranges::sort(names);
      for (const std::string& name : names) hash.Update(name);
    } else {
      continue;
    }
    any = true;
  }
  return any ? fmt::format("{:016x}", hash.value()) : "";
}

// Returns the option that sets this key of a checkpoint.
std::string OptionOf(const std::string& key) {
  for (const auto& [other, option] :
       {std::pair("divergence_weight", "kl_weight"), std::pair("first_divergence_weight", "first_kl_weight"),
        std::pair("divergence_batches", "kl_batches"), std::pair("least_share", "random_resized_crop"),
        std::pair("tie_source_target", "no_tie_source_target"), std::pair("tie_output", "no_tie_output"),
        std::pair("architecture", "family"), std::pair("attention", "attention_types"),
        std::pair("part_size", "micro_batch_size"), std::pair("queries", "num_queries"),
        std::pair("templates", "max_templates"), std::pair("vocabulary", "subword_type")})
    if (key == other) return option;
  return key;
}

// Throws Error naming the first option that differs from the original training.
void CheckSameOptions(const std::string& out, const JsonView& stored, const Json& now) {
  const std::string advice = "; resume with the same, or train into another folder";
  const auto check = [&](const std::string& key, const Json* before, const Json* value) {
    if (before != nullptr && value != nullptr && *before == *value) return;
    Check(key != "parameter_groups", "{}: this training began with another `freeze` or `rate`{}", out, advice);
    for (const auto& [hash, option] :
         {std::pair("corpus_hash", "`train` or `validate_split`"), std::pair("validation_hash", "`valid`"),
          std::pair("labelled_hash", "`labeled`")})
      Check(key != hash, "{}: this training began with another {}, or with other contents of its files{}", out, option,
            advice);
    const auto text = [](const Json* of) { return of == nullptr || of->is_null() ? "not given" : of->Line(); };
    Fail("{}: this training began with `{}` {}, and now it is {}{}", out, OptionOf(key), text(before), text(value),
         advice);
  };
  for (const auto& [name, value] : *now.As<Json::Object>()) check(name, stored.value().Find(name), &value);
  for (const auto& [name, value] : stored.Object()) check(name, &value, now.Find(name));
}

}  // namespace

void CheckReadable(const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths)
    if (!fs::is_fifo(path, ignored)) LineReader{path};  // a pipe can only be read once
}

void CheckNoPipe(const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths)
    Check(path != "-" && !fs::is_fifo(path, ignored),
          "{}: it can be read only once, and this training reads its texts again: name a file",
          path == "-" ? "standard input" : path);
}

void FreezeAsTrained(const JsonView& run, Parameters& parameters) {
  const JsonView groups = run["parameter_groups"];
  if (!groups.present()) return;
  for (const JsonView& group : groups.Items()) {  // as written by RunOf
    const std::vector<JsonView> items = group.Items();
    Check(items.size() == 4, "{}: {} values of a group of parameters; there must be 4", group.location(), items.size());
    if (items[3].Bool()) parameters.Freeze(items[0].String());
  }
}

void Note(const TrainingObserver& observer, const std::string& text) {
  if (observer.note) observer.note(text);
}

TrainingResult RunTraining(const TrainingTask& task, TrainingOptions options, const TrainingRun& run,
                           const TrainingObserver& observer) {
  const std::int64_t count = task.model->parameters().count();
  const std::string size =
      count < 1'000'000 ? fmt::format("{}", count) : fmt::format("{:.1f} million", static_cast<double>(count) / 1e6);
  Note(observer, fmt::format("a model of {} parameters, computing in {}", size, Name(run.compute)));
  task.model->parameters().SetCompute(run.compute);
  CompleteSchedule(task, run, options);

  const std::string checkpoint = CheckpointOf(run.out);
  const bool resuming = run.resume && HasCheckpoint(checkpoint);
  const std::int64_t first_step = resuming ? ReadCheckpointState(checkpoint)["step"].Integer(0) : 0;
  Json settings = RunOf(options, run.compute, run.of);
  if (const std::string hash = HashOfFiles(run.validation); !hash.empty()) settings.Set("validation_hash", hash);
  if (resuming) {
    const JsonView state = ReadCheckpointState(checkpoint);
    // A checkpoint of an earlier version has no hash of the validation set.
    if (state["run"].value().Find("validation_hash") == nullptr) settings = RunOf(options, run.compute, run.of);
    if (state["version"].Integer() == kCheckpointVersion) CheckSameOptions(run.out, state["run"], settings);
  }
  std::optional<Metrics> metrics;  // stays empty if the resumed training has already ended
  const auto add = [&](const auto& report) {
    if (!metrics) metrics.emplace(run.out, first_step, run.labels);
    metrics->Add(report);
  };
  StepProfiler profiler(run.compute, options, observer);
  TrainingObserver watching = observer;
  watching.step = [&](const StepReport& report) {
    add(report);
    if (observer.step) observer.step(report);
  };
  watching.progress = [&](const StepReport& report) {
    if (observer.progress) observer.progress(report);
    if (run.profile) profiler.Step(report);
  };
  watching.validation = [&](const ValidationReport& report) {
    add(report);
    if (observer.validation) observer.validation(report);
  };
  const TrainingOutput output{.checkpoint = checkpoint,
                              .run = settings,
                              .save_best = [&] { run.save(run.out); },
                              .save_last = [&] { ReplaceFolder(run.out + "/last", run.save); }};
  if (observer.prepared) observer.prepared(run.labels);
  const TrainingResult result = Train(task, options, output, run.resume, watching);
  if (result.end == TrainingEnd::stopped)
    Note(observer, fmt::format("stopped after step {}; `resume` continues from here", result.steps));
  if (result.end == TrainingEnd::finished)
    Note(observer, fmt::format("{}: this training has ended, at step {}; a larger {} continues it", run.out,
                               result.steps, LimitsOf(options)));
  return result;
}

}  // namespace headlight

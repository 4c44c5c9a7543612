#include "headlight/cli/training_run.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/profile_report.h"
#include "headlight/inspect/drawing/training_drawing.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/metrics.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupted = 0;

void Interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // a second Ctrl-C ends the program at once
}

std::string In(const std::string& folder, const char* name) { return fmt::format("{}/{}", folder, name); }

void DrawCurves(const std::string& out) {
  const auto curve = [&](const std::string& name) {
    MetricSeries series = ReadMetric(out, name);
    return Curve{std::move(series.steps), std::move(series.values)};
  };
  TrainingCurves curves{.title = fs::path(out).filename().string(),
                        .train_loss = curve("loss"),
                        .validation_loss = curve("validation_loss"),
                        .scores = {},
                        .learning_rate = curve("learning_rate")};
  for (const std::string& name : ReadScoreNames(out))
    curves.scores.push_back({name == "bleu" ? "BLEU" : name, curve(name)});
  if (!curves.train_loss.steps.empty() || !curves.validation_loss.steps.empty())
    DrawTraining(curves, In(out, "training.svg"));
}

// Profiles fifty steps after the first five, or fewer where a validation comes, and reports them.
class StepProfiler {
 public:
  StepProfiler(Compute compute, std::int64_t validate_every, TrainingProgress& progress)
      : compute_(compute), validate_every_(validate_every), progress_(progress) {}

  void Step(const StepReport& report) {
    if (done_) return;
    if (first_ == 0 && ++steps_ == 5) {
      machine_ = MeasureMachine(compute_);
      first_ = report.step;
      begin_ = std::chrono::steady_clock::now();
      StartProfile();
    } else if (first_ != 0 && (report.step == first_ + 50 || Validates(report))) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
      progress_.Note(ProfileReport(TakeProfile(), report.step - first_, seconds.count(), machine_));
      done_ = true;
    }
  }

 private:
  bool Validates(const StepReport& report) const {
    return validate_every_ > 0 ? report.step % validate_every_ == 0 : report.batch == report.batches_in_epoch;
  }

  Compute compute_;
  std::int64_t validate_every_;
  TrainingProgress& progress_;
  MachineRates machine_;
  std::int64_t steps_ = 0, first_ = 0;
  bool done_ = false;
  std::chrono::steady_clock::time_point begin_;
};

// Where a schedule falls to zero: at the training's end, by the number of batches that the first epoch has.
std::int64_t StepsOf(const TrainingOptions& options, const TrainingTask& task) {
  if (options.epochs == 0) return options.steps;
  const std::int64_t batches = task.batches({})().batches_in_epoch;
  const std::int64_t steps = options.epochs * ((batches + options.accumulation - 1) / options.accumulation);
  return options.steps == 0 ? steps : std::min(steps, options.steps);
}

// The settings that a resumed training must have in common with the one that began; when it ends may differ.
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
                                {"schedule_steps", training.schedule.total},
                                {"beta1", training.adam.beta1},
                                {"beta2", training.adam.beta2},
                                {"epsilon", training.adam.epsilon},
                                {"weight_decay", training.adam.weight_decay},
                                {"layer_decay", training.adam.layer_decay},
                                {"parameter_groups", std::move(groups)},
                                {"clip_norm", training.adam.clip_norm},
                                {"average_decay", training.adam.average_decay},
                                {"average_last", training.average_last},
                                {"validate_every", training.validate_every}};
  for (const Json::Member& option : options) run.Set(option.name, option.value);
  return run;
}

}  // namespace

std::string CheckpointOf(const std::string& out) { return In(out, "checkpoint"); }

void BeginTraining(const std::string& out) {
  fs::create_directories(out);
  WriteFile(In(out, "training.json"), Json(Json::Object{{"headlight_training", 1}}).Text());
}

void CheckTrainingFolder(const std::string& out, bool resume) {
  Check(!out.empty(), "--out: a folder is needed");
  if (!fs::exists(out)) return;
  Check(fs::is_directory(out), "{}: not a folder", out);
  if (fs::is_empty(out)) return;
  // Also a mark that was not yet complete when the program was killed.
  const bool training = std::ranges::any_of(fs::directory_iterator(out), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("training.json");
  });
  Check(training, "{}: holds something else than a training, such as {}; give another --out", out,
        fs::directory_iterator(out)->path().filename().string());
  Check(resume, "{}: holds a training already; --resume goes on with it, another --out begins anew", out);
}

bool Interrupted() { return interrupted != 0; }

void CatchInterrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, Interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);  // as nohup asks
}

TrainingResult RunTraining(const TrainingTask& task, TrainingOptions& options, const TrainingRun& run,
                           TrainingProgress& progress) {
  progress.Note(fmt::format("a model of {:.1f} million parameters, computing in {}",
                            static_cast<double>(task.model->parameters().count()) / 1e6, Name(run.compute)));
  task.model->parameters().SetCompute(run.compute);
  const bool falls = FallsToZero(options.schedule.kind);
  if (falls) options.schedule.total = StepsOf(options, task);
  if (options.schedule.warmup == kWarmupUnlessGiven)
    options.schedule.warmup =
        falls && options.schedule.total <= 400 ? std::max<std::int64_t>(1, options.schedule.total / 10) : 200;
  CheckSchedule(options.schedule);
  BeginTraining(run.out);

  const std::string checkpoint = CheckpointOf(run.out);
  const bool resuming = run.resume && HasCheckpoint(checkpoint);
  Metrics metrics(run.out, resuming ? ReadJson(In(checkpoint, "state.json"))["step"].Integer(0) : 0);
  StepProfiler profiler(run.compute, options.validate_every, progress);
  const TrainingObserver observer{.step =
                                      [&](const StepReport& report) {
                                        metrics.Add(report);
                                        progress.Log(report);
                                      },
                                  .progress =
                                      [&](const StepReport& report) {
                                        progress.Step(report);
                                        if (run.profile) profiler.Step(report);
                                      },
                                  .validation =
                                      [&](const ValidationReport& report) {
                                        metrics.Add(report);
                                        progress.Validation(report);
                                      },
                                  .note = [&](const std::string& text) { progress.Note(text); },
                                  .stop = Interrupted};
  const TrainingKeep keep{.checkpoint = checkpoint,
                          .run = RunOf(options, run.compute, run.of),
                          .save_best = [&] { run.save(run.out); },
                          .save_last = [&] { ReplaceFolder(In(run.out, "last"), run.save); }};
  const TrainingResult result = Train(task, options, keep, run.resume, observer);
  DrawCurves(run.out);
  if (result.end == TrainingEnd::stopped) progress.Note("stopped; --resume goes on from here");
  return result;
}

}  // namespace headlight

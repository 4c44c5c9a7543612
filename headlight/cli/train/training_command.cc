#include "headlight/cli/train/training_command.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>

#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/inspect/drawing/training_drawing.h"
#include "headlight/train/metrics.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupted_by = 0;

void Interrupt(int signal) {
  interrupted_by = signal;
  for (const int any : {SIGINT, SIGTERM, SIGHUP})  // a second signal ends the program immediately
    if (std::signal(any, SIG_DFL) == SIG_IGN) std::signal(any, SIG_IGN);
}

// Installs handlers for SIGINT, SIGTERM and SIGHUP, which let the training save a checkpoint and stop.
void CatchInterrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, Interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup ignores SIGHUP
}

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
    DrawTraining(curves, out + "/training.svg");
}

}  // namespace

int InterruptedBy() { return interrupted_by; }

std::string ForShell(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
  if (word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void RunTrainingCommand(ModelTraining& options, const std::string& use,
                        const std::function<TrainingResult(const TrainingObserver&)>& train) {
  options.ranks = JoinedRanks();
  const std::string& out = options.out;
  TrainingProgress progress(Quiet());
  const TrainingResult result = train({
      .prepared =
          [&](const std::string& labels) {
            CatchInterrupts();
            progress.Begin(labels);
          },
      .step = [&](const StepReport& report) { progress.Log(report); },
      .progress = [&](const StepReport& report) { progress.Step(report); },
      .validation = [&](const ValidationReport& report) { progress.Validation(report); },
      .note = [&](const std::string& text) { progress.Note(text); },
      .stop = [] { return interrupted_by != 0; },
  });
  // The curves are drawn even if no steps remained, because an earlier run may have been killed before it drew them.
  if (IsFirstRank() && Exists(out + "/metrics.jsonl")) DrawCurves(out);
  // `interrupted_by` is 0 if another rank received the signal.
  if (result.end == TrainingEnd::stopped) throw EndedBySignal{interrupted_by == 0 ? SIGTERM : int{interrupted_by}};
  if (result.best_step > 0)
    progress.Note(fmt::format("the best model, of step {} ({}), is in {}: {} {}", result.best_step,
                              ScoreText(result.best_metric, result.best_value), out, use, ForShell(out)));
}

void AddRankTimeout(OptionTable& command) {
  command
      .AddFunction(
          "--rank-timeout", [](const std::string& seconds) { SetRankTimeout(NumberOf(seconds).value()); },
          "With mpirun, end the run after X seconds without an answer from a rank")
      .Check(NumberAbove(0))
      .Type("X")
      .Default("600")
      .Group("Training");
}

}  // namespace headlight

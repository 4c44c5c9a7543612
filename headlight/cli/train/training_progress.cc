#include "headlight/cli/train/training_progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/recipes/evaluation_report.h"

namespace headlight {
namespace {

std::string Left(const StepReport& report) {
  return report.progress <= 0 ? "?" : Clock(report.seconds / report.progress * (1 - report.progress));
}

// Formats a value with this number of decimals, or in scientific notation if it is large.
std::string Fixed(double value, int digits) {
  if (!std::isfinite(value)) return ">1e308";
  return value < 1e6 ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.2e}", value);
}

}  // namespace

std::string ScoreText(const std::string& name, double value) {
  if (name == "bits_per_byte") return fmt::format("{} bits per byte", Fixed(value, 4));
  if (name == "bits_per_pixel") return fmt::format("{} bits per pixel", Fixed(value, 4));
  return fmt::format("{} {}", name == "bleu" ? "BLEU" : name, Fixed(value, DigitsOfScore(name)));
}

TrainingProgress::TrainingProgress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  if (!quiet) preparing_.emplace("preparing the training");
}

void TrainingProgress::Begin(const std::string& labels) {
  preparing_.reset();
  labels_ = labels;
}

std::string TrainingProgress::Summary(const StepReport& report) const {
  return fmt::format("epoch {} step {}  loss {}  learning rate {:.2e}  {:.0f} {}/s  {} left", report.epoch, report.step,
                     Fixed(report.loss, 3), report.learning_rate, report.labels_per_second, labels_, Left(report));
}

void TrainingProgress::Step(const StepReport& report) {
  if (quiet_ || !terminal_ || report.seconds - last_drawn_ < 0.2) return;
  last_drawn_ = report.seconds;
  constexpr int width = 24;
  const int done = static_cast<int>(report.progress * width);
  // Write errors are ignored, because a training must continue if its terminal is closed.
  std::fputs(fmt::format("\r\x1b[K[{:#<{}}{:.<{}}] {}", "", done, "", width - done, Summary(report)).c_str(), stderr);
  std::fflush(stderr);
}

void TrainingProgress::Log(const StepReport& report) {
  if (!quiet_ && !terminal_) WriteNote(Summary(report));
}

void TrainingProgress::Validation(const ValidationReport& report) {
  if (quiet_) return;
  Clear();
  std::string scores;
  const auto add = [&](const std::string& name, double value) { scores += ", " + ScoreText(name, value); };
  if (report.perplexity > 0) add("perplexity", report.perplexity);
  if (!report.score_name.empty()) add(report.score_name, report.score);
  for (const auto& [name, value] : report.more_scores) add(name, value);
  WriteNote(fmt::format("epoch {} step {}  validation: {}{}{}, in {:.1f} s", report.epoch, report.step,
                        ScoreText("loss", report.loss), scores, report.best ? ", the best so far" : "",
                        report.seconds));
  for (const ValidationReport::Sample& sample : report.samples)
    WriteNote(fmt::format("  {}\n    model:     {}\n    reference: {}", sample.input, sample.output, sample.reference));
}

void TrainingProgress::Note(const std::string& text) {
  if (quiet_) return;
  Clear();
  WriteNote(text);
}

void TrainingProgress::Clear() {
  if (terminal_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace headlight

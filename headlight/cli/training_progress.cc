#include "headlight/cli/training_progress.h"

#include <unistd.h>

#include <cstdio>

#include "headlight/cli/output.h"

namespace headlight {
namespace {

// 3:07 or 1:02:07
std::string Clock(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string Left(const StepReport& report) {
  return report.progress <= 0 ? "?" : Clock(report.seconds / report.progress * (1 - report.progress));
}

std::string Summary(const StepReport& report) {
  return fmt::format("epoch {} step {}  loss {:.3f}  learning rate {:.2e}  {:.0f} target tokens/s  {} left",
                     report.epoch, report.step, report.loss, report.learning_rate, report.labels_per_second,
                     Left(report));
}

}  // namespace

TrainingProgress::TrainingProgress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void TrainingProgress::Step(const StepReport& report) {
  if (quiet_ || !terminal_ || report.seconds - last_drawn_ < 0.2) return;
  last_drawn_ = report.seconds;
  constexpr int width = 24;
  const int done = static_cast<int>(report.progress * width);
  // Errors are ignored: the training goes on without its terminal.
  std::fputs(fmt::format("\r\x1b[K[{:#<{}}{:.<{}}] {}", "", done, "", width - done, Summary(report)).c_str(), stderr);
  std::fflush(stderr);
}

void TrainingProgress::Log(const StepReport& report) {
  if (!quiet_ && !terminal_) WriteNote(Summary(report));
}

void TrainingProgress::Validation(const ValidationReport& report) {
  if (quiet_) return;
  Clear();
  std::string score =
      report.score_name.empty()
          ? ""
          : fmt::format(", {} {:.2f}", report.score_name == "bleu" ? "BLEU" : report.score_name, report.score);
  for (const auto& [name, value] : report.more_scores)
    score += name == "bits_per_byte" ? fmt::format(", {:.4f} bits per byte", value)
                                     : fmt::format(", {} {:.2f}", name, value);
  const std::string perplexity = report.perplexity > 0 ? fmt::format(", perplexity {:.2f}", report.perplexity) : "";
  WriteNote(fmt::format("validation after epoch {} (step {}): loss {:.4f}{}{}{}, in {:.1f} s", report.epoch,
                        report.step, report.loss, perplexity, score, report.best ? ", the best so far" : "",
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

// How a training shows itself: a bar on a terminal, plain lines in a log.
#pragma once

#include <optional>
#include <string>

#include "headlight/cli/progress.h"
#include "headlight/train/trainer.h"

namespace headlight {

// The digits behind the point that a score is printed with: 2 of those in per cent, 4 of those from 0 to 1 and of
// losses.
int DigitsOfScore(std::string_view name);

// A validation's score and its name, such as "BLEU 31.25".
std::string ScoreText(const std::string& name, double value);

class TrainingProgress {
 public:
  // `labels`: of which the speed is reported, such as "pictures".
  explicit TrainingProgress(bool quiet, std::string labels = "target tokens");

  void Begin();                         // ends the preparations, which have a line of their own
  void Step(const StepReport& report);  // every step: the bar
  void Log(const StepReport& report);   // now and then: a line, where there is no bar
  void Validation(const ValidationReport& report);
  void Note(const std::string& text);
  const std::string& labels() const { return labels_; }

 private:
  void Clear();
  std::string Summary(const StepReport& report) const;

  bool quiet_, terminal_;
  std::string labels_;
  std::optional<Progress> preparing_;
  double last_drawn_ = -1;  // seconds of training
};

}  // namespace headlight

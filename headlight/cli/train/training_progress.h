// Shows the progress of a training run: a bar on a terminal, or lines in a log.
#pragma once

#include <optional>
#include <string>

#include "headlight/cli/terminal/progress.h"
#include "headlight/train/trainer.h"

namespace headlight {

// Returns a validation score with its name, such as "BLEU 31.25".
std::string ScoreText(const std::string& name, double value);

class TrainingProgress {
 public:
  explicit TrainingProgress(bool quiet);

  // Removes the progress line of the preparations. `labels` is the unit of the speed, such as "images".
  void Begin(const std::string& labels);
  void Step(const StepReport& report);  // called for each step; draws the bar
  void Log(const StepReport& report);   // called at intervals; prints a line unless there is a bar
  void Validation(const ValidationReport& report);
  void Note(const std::string& text);

 private:
  void Clear();
  std::string Summary(const StepReport& report) const;

  bool quiet_, terminal_;
  std::string labels_;
  std::optional<Progress> preparing_;
  double last_drawn_ = -1;  // time of the last update in seconds since the training started
};

}  // namespace headlight

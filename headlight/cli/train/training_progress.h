// How a training shows itself: a bar on a terminal, plain lines in a log.
#pragma once

#include <optional>
#include <string>

#include "headlight/cli/terminal/progress.h"
#include "headlight/train/trainer.h"

namespace headlight {

// A validation's score and its name, such as "BLEU 31.25".
std::string ScoreText(const std::string& name, double value);

class TrainingProgress {
 public:
  explicit TrainingProgress(bool quiet);

  // Ends the preparations, which have a line of their own. `labels`: of which the speed is reported, such as "images".
  void Begin(const std::string& labels);
  void Step(const StepReport& report);  // every step: the bar
  void Log(const StepReport& report);   // now and then: a line, where there is no bar
  void Validation(const ValidationReport& report);
  void Note(const std::string& text);

 private:
  void Clear();
  std::string Summary(const StepReport& report) const;

  bool quiet_, terminal_;
  std::string labels_;
  std::optional<Progress> preparing_;
  double last_drawn_ = -1;  // seconds of training
};

}  // namespace headlight

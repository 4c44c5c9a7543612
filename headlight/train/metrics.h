// The course of a training: metrics.jsonl for programs, and TensorBoard's event files.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/event_file.h"
#include "headlight/train/trainer.h"

namespace headlight {

// Appends an object a line to folder/metrics.jsonl: "step", "epoch", "loss", "learning_rate", "gradient_norm",
// "target_tokens_per_second", "target_tokens" (or what else is counted), "seconds" of steps, and "step", "epoch",
// "validation_loss", "perplexity", every score by its name ("bleu"), "best" of validations, without numbers that are
// not finite; the same numbers go to an event file.
class HEADLIGHT_API Metrics {
 public:
  // Removes the lines of steps after `step`: of a run that was cut off there. `labels`: the name of what a step counts,
  // such as "images".
  Metrics(const std::string& folder, std::int64_t step, const std::string& labels = "target tokens");

  void Add(const StepReport& report);
  void Add(const ValidationReport& report);

 private:
  void Write(const Json& line);

  std::string path_, labels_;
  std::ofstream file_;
  EventFile events_;
};

// A number over the steps, read back from metrics.jsonl.
struct MetricSeries {
  std::vector<double> steps, values;
};
HEADLIGHT_API MetricSeries ReadMetric(const std::string& folder, std::string_view name);

// The names of the scores that validations have reported, in the order in which they came.
HEADLIGHT_API std::vector<std::string> ReadScoreNames(const std::string& folder);

}  // namespace headlight

// Records the metrics of a training run in metrics.jsonl and in TensorBoard event files.
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

/// Appends one JSON object per line to folder/metrics.jsonl, and the same values to an event file. A training line has
/// "step", "epoch", "loss", "learning_rate", "gradient_norm" and "seconds". It also has the number of labels and the
/// labels per second, under names such as "target_tokens" and "target_tokens_per_second". A validation line has "step",
/// "epoch", "validation_loss", "perplexity", "best", and every score by its name (such as "bleu"). Values that are not
/// finite are omitted.
class HEADLIGHT_API Metrics {
 public:
  /// Opens the files. Removes the lines of steps after `step`, which an interrupted run may have written. `labels`
  /// names what a step counts, such as "images".
  Metrics(const std::string& folder, std::int64_t step, const std::string& labels = "target tokens");

  void Add(const StepReport& report);
  void Add(const ValidationReport& report);

 private:
  void Write(const Json& line);

  std::string path_, labels_;
  std::ofstream file_;
  EventFile events_;
};

/// The steps and values of a metric, read from metrics.jsonl.
struct MetricSeries {
  std::vector<double> steps, values;
};
HEADLIGHT_API MetricSeries ReadMetric(const std::string& folder, std::string_view name);

/// Returns the names of the scores that validations reported, in order of appearance.
HEADLIGHT_API std::vector<std::string> ReadScoreNames(const std::string& folder);

}  // namespace headlight

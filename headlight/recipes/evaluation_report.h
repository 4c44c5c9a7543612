// Makes the results of all evaluations from scores, and reports to the observer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "headlight/base/json.h"
#include "headlight/data/images.h"
#include "headlight/kinds/model.h"
#include "headlight/recipes/evaluation_options.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct Evaluated {
  const char* task;  ///< the task's name in JSON
  ValidationReport report;
  const char* units;  ///< the unit of the examples, such as "texts"; also a key in JSON
  std::size_t count;
  const char* labels;      ///< the units that the loss is averaged over, such as "texts"
  std::string lines = {};  ///< additional scores as text; `members` has them in JSON
  Json::Object members = {};
};

EvaluationResult ResultOf(const Evaluated& evaluated);

/// Returns the number, or null if it is infinite or NaN, which JSON cannot represent.
Json NumberOrNull(double number);

/// Returns the number of decimals of a printed score: 2 for percentages, 4 for losses and scores from 0 to 1.
int DigitsOfScore(std::string_view name);

/// Throws Error naming the model if its loss is NaN.
void CheckLoss(const Model& model, double loss);

/// Returns a decoder of images with at most options.most_pixels pixels.
DecodeBytes DecoderOf(const Evaluation& options);

/// Report to the observer, if its callback is set.
void Show(const EvaluationObserver& observer, const char* what, std::int64_t done = -1, std::int64_t total = 0);
void Note(const EvaluationObserver& observer, const std::string& text);

/// Reports the start of a pass over examples. The observer must outlive the returned function.
PassWatch Watch(const EvaluationObserver& observer, const char* what);

/// Reports that a model is loaded, and returns the result of load().
template <typename Load>
auto Loaded(const EvaluationObserver& observer, const Load& load) {
  Show(observer, "loading the model");
  auto loaded = load();
  Show(observer, "");
  return loaded;
}

}  // namespace headlight

// Shared by the evaluations of all kinds: how scores become a result, and how the observer is told.
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
  const char* task;  ///< its name in JSON
  ValidationReport report;
  const char* units;  ///< "texts"; in JSON a key
  std::size_t count;
  const char* labels;      ///< what the loss is the mean over: "texts"
  std::string lines = {};  ///< what follows as text, and in JSON
  Json::Object members = {};
};

EvaluationResult ResultOf(const Evaluated& evaluated);

/// JSON has no infinity.
Json NumberOrNull(double number);

/// The digits behind the point that a score is printed with: 2 of those in per cent, 4 of those from 0 to 1 and of
/// losses.
int DigitsOfScore(std::string_view name);

/// Throws Error naming the model if its loss is NaN.
void CheckLoss(const Model& model, double loss);

/// Decodes images of at most options.most_pixels.
DecodeBytes DecoderOf(const Evaluation& options);

// Tell the observer, if it listens.
void Show(const EvaluationObserver& observer, const char* what, std::int64_t done = -1, std::int64_t total = 0);
void Note(const EvaluationObserver& observer, const std::string& text);

/// Shows a pass over examples, which begins. The observer must outlive what it returns.
PassWatch Watch(const EvaluationObserver& observer, const char* what);

/// The result of load(), which reads a model.
template <typename Load>
auto Loaded(const EvaluationObserver& observer, const Load& load) {
  Show(observer, "loading the model");
  auto loaded = load();
  Show(observer, "");
  return loaded;
}

}  // namespace headlight

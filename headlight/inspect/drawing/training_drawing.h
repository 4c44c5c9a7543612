// Draws the curves of a training run.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// A quantity over the steps of training. Values that are not finite (after divergence) are gaps in the line.
struct Curve {
  std::vector<double> steps;   // increasing
  std::vector<double> values;  // one per step
};

struct NamedCurve {
  std::string name;
  Curve curve;
};

/// The curves of a training run. Empty curves are not drawn.
struct TrainingCurves {
  std::string title;
  Curve train_loss, validation_loss;  // nats per token
  std::vector<NamedCurve> scores;     // validation scores
  Curve learning_rate;
};

/// Draws loss, scores and learning rate to `path` (.svg, .png or .pdf), in separate panels over the same steps. Throws
/// Error for another extension, a curve whose steps do not increase or do not match its values, a run without values,
/// and a file that cannot be written.
HEADLIGHT_API void DrawTraining(const TrainingCurves& curves, const std::string& path);

}  // namespace headlight

// A training run as an image.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// A quantity over training. Values that are not finite (a loss that exploded) are left out, and the line with them.
struct Curve {
  std::vector<double> steps;   // rising
  std::vector<double> values;  // as many
};

struct NamedCurve {
  std::string name;
  Curve curve;
};

// Empty curves are not drawn.
struct TrainingCurves {
  std::string title;
  Curve train_loss, validation_loss;  // nats per token
  std::vector<NamedCurve> scores;     // of validations
  Curve learning_rate;
};

// Draws loss, scores and learning rate, each in a panel of its own, one below the other over the same steps, to `path`
// (.svg, .png or .pdf). Throws Error for another ending, a curve whose steps do not rise or do not match its values, a
// run without a value, and a file that cannot be written.
HEADLIGHT_API void DrawTraining(const TrainingCurves& curves, const std::string& path);

}  // namespace headlight

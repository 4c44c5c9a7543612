// Keeps track of the best validation so far.
#pragma once

#include <string>

#include "headlight/train/checkpoint.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// Returns true if `report` is better than the best report so far, and then stores it in `state`. Reports are compared
/// by `metric`. If `metric` is empty, they are compared by the task's score, or by the loss if the task has no score.
/// The loss breaks ties. If `last_is_best` is set, every report counts as the best.
bool KeepIfBest(const ValidationReport& report, const std::string& metric, bool last_is_best, TrainingState& state);

/// Returns the metric's value in the best report.
double BestValue(const TrainingState& state);

}  // namespace headlight

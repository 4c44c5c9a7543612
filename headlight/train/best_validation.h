// Which validation is the best so far.
#pragma once

#include <string>

#include "headlight/train/checkpoint.h"
#include "headlight/train/training_task.h"

namespace headlight {

// Whether a report is better than those before, of which the state knows the best: by `metric`, or where that is empty
// by the task's score, else the loss; then by the loss. Then it is the state's best. `last_is_best`: always so.
bool KeepIfBest(const ValidationReport& report, const std::string& metric, bool last_is_best, TrainingState& state);

// The metric of the best one, as it was reported.
double BestValue(const TrainingState& state);

}  // namespace headlight

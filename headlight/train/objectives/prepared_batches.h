// Batches whose examples take time to prepare, as images do that are decoded and augmented.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/train/training_task.h"

namespace headlight {

// The parts and labels of a plan's batch. Called from several threads at once; all that is random in it follows from
// the plan and from RandomOfExample.
using PrepareBatch = std::function<TrainingBatch(const BatchPlan& plan)>;

// TrainingTask::batches of so many examples, each of which counts as 1 of BatchOptions::batch_size: whole batches are
// made ahead on Threads() threads, and come in order.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> PreparedBatches(
    std::int64_t examples, const BatchOptions& options, PrepareBatch prepare);

}  // namespace headlight

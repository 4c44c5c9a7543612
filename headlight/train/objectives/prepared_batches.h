// Batches of examples that take time to prepare, such as images that are decoded and augmented.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// Makes the parts and labels of a plan's batch. Called from several threads at the same time. Random choices must
/// depend only on the plan and RandomOfExample.
using PrepareBatch = std::function<TrainingBatch(const BatchPlan& plan)>;

/// Returns TrainingTask::batches for `examples` examples. Each example counts as 1 in BatchOptions::batch_size. Whole
/// batches are prepared ahead on Threads() threads and returned in order.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> PreparedBatches(
    std::int64_t examples, const BatchOptions& options, PrepareBatch prepare);

}  // namespace headlight

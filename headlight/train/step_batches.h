// The micro-batches of each step, prepared ahead on other threads. Each rank makes only those that it computes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/data/prefetch.h"
#include "headlight/train/training_task.h"

namespace headlight {

class HEADLIGHT_API StepBatches {
 public:
  /// Batches of the task from a position on, `accumulation` per step, or fewer at an epoch's end. `ranks`: null for a
  /// single process. Parts are made on Threads() threads.
  StepBatches(const TrainingTask& task, const BatchPosition& from, std::int64_t accumulation, const Ranks* ranks);

  /// The batches of the next step, joined into one. Only the parts that DealParts gives to this rank are made.
  TrainingBatch Next();

 private:
  struct Step {
    TrainingBatch batch;
    std::int64_t begin = 0, end = 0;  // the parts of this rank
  };
  /// A micro-batch of a step; empty if this rank has none in the step.
  struct Item {
    std::shared_ptr<Step> step;
    TrainingPart part;
  };

  Step NextStep();
  std::function<Item()> Plan();

  std::function<TrainingBatch()> batches_;
  std::int64_t accumulation_;
  std::size_t rank_ = 0;
  int size_ = 1;
  std::shared_ptr<Step> planned_;  // the step of the next part
  std::int64_t next_ = 0;
  Prefetch<Item> items_;  // last, so that all that its threads use is initialized before they start
};

}  // namespace headlight

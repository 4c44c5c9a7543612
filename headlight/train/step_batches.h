// The micro-batches of each step, prepared ahead on other threads. Each rank makes only its own micro-batches.
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
  /// Prepares the task's batches, starting at position `from`. A step has `accumulation` batches, or fewer at an
  /// epoch's end. `ranks` is null for a single process. Parts are made on Threads() threads.
  StepBatches(const TrainingTask& task, const BatchPosition& from, std::int64_t accumulation, const Ranks* ranks);

  /// Returns the batches of the next step as a single batch. Makes only the parts that DivideParts assigns to this
  /// rank.
  TrainingBatch Next();

 private:
  struct Step {
    TrainingBatch batch;
    std::int64_t begin = 0, end = 0;  // range of this rank's parts
  };
  /// A micro-batch of a step. It is empty if this rank has no micro-batch in the step.
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
  std::shared_ptr<Step> planned_;  // the step that the next part belongs to
  std::int64_t next_ = 0;
  Prefetch<Item> items_;  // must be the last member, because its threads use the other members
};

}  // namespace headlight

#include "headlight/train/step_batches.h"

#include <algorithm>
#include <iterator>

#include "headlight/base/parallel.h"
#include "headlight/train/rank_sum.h"

namespace headlight {

StepBatches::StepBatches(const TrainingTask& task, const BatchPosition& from, std::int64_t accumulation,
                         const Ranks* ranks)
    : batches_(task.batches(from)),
      accumulation_(accumulation),
      rank_(static_cast<std::size_t>(ranks == nullptr ? 0 : ranks->rank())),
      size_(ranks == nullptr ? 1 : ranks->size()),
      items_([this] { return Plan(); }, static_cast<std::size_t>(Threads()) + 3, Threads()) {}

StepBatches::Step StepBatches::NextStep() {
  Step step;
  for (std::int64_t count = 0; count < accumulation_; ++count) {
    TrainingBatch batch = batches_();
    std::ranges::move(batch.parts, std::back_inserter(step.batch.parts));
    step.batch.labels += batch.labels;
    step.batch.next = batch.next;
    step.batch.batches_in_epoch = batch.batches_in_epoch;
    if (batch.next.batch == 0) break;
  }
  const std::vector<std::int64_t> dealt = DivideParts(std::ssize(step.batch.parts), size_);
  step.begin = dealt[rank_];
  step.end = dealt[rank_ + 1];
  return step;
}

std::function<StepBatches::Item()> StepBatches::Plan() {
  if (planned_ == nullptr || next_ >= planned_->end) {
    planned_ = std::make_shared<Step>(NextStep());
    next_ = planned_->begin;
  }
  const std::int64_t part = next_++;
  if (part >= planned_->end) return [step = planned_] { return Item{step, {}}; };
  return [step = planned_, part = std::move(planned_->batch.parts[static_cast<std::size_t>(part)])]() mutable {
    return Item{step, Made(std::move(part))};
  };
}

TrainingBatch StepBatches::Next() {
  Item item = items_.Next();
  const std::shared_ptr<Step> step = item.step;
  for (std::int64_t part = step->begin; part < step->end; ++part) {
    if (part > step->begin) item = items_.Next();
    step->batch.parts[static_cast<std::size_t>(part)] = std::move(item.part);
  }
  return std::move(step->batch);
}

}  // namespace headlight

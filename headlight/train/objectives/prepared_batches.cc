#include "headlight/train/objectives/prepared_batches.h"

#include <memory>
#include <utility>

#include "headlight/base/parallel.h"
#include "headlight/data/prefetch.h"

namespace headlight {

std::function<std::function<TrainingBatch()>(const BatchPosition& position)> PreparedBatches(
    std::int64_t examples, const BatchOptions& options, PrepareBatch prepare) {
  return [examples, options, prepare = std::move(prepare)](const BatchPosition& position) {
    const auto plan = [prepare, stream = BatchStream(
                                    examples,
                                    [](std::int64_t) {
                                      return ExampleLength{1, 0};
                                    },
                                    options, position)]() mutable -> std::function<TrainingBatch()> {
      return [prepare, plan = stream.Next()] {
        TrainingBatch batch = prepare(plan);
        batch.next = plan.next;
        batch.batches_in_epoch = plan.batches_in_epoch;
        return batch;
      };
    };
    const int threads = Threads();
    const auto ahead = std::make_shared<Prefetch<TrainingBatch>>(plan, static_cast<std::size_t>(threads) + 1, threads);
    return [ahead] { return ahead->Next(); };
  };
}

}  // namespace headlight

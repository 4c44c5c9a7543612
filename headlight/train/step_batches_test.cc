#include "headlight/train/step_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/ranks_testing.h"

namespace headlight::step_batches_test {
namespace {

constexpr std::int64_t kBatches = 5;  // number of batches per epoch

// Returns a task with batches of one to three parts. The payload of a part is its number. `made` counts the parts.
TrainingTask NumbersTask(std::atomic<int>& made) {
  TrainingTask task;
  task.batches = [&made](BatchPosition place) {
    return [&made, place]() mutable {
      TrainingBatch batch{.parts = {}, .labels = place.batch, .next = place, .batches_in_epoch = kBatches};
      for (std::int64_t part = 0; part < 1 + place.batch % 3; ++part)
        batch.parts.emplace_back(TrainingPart::Later([&made, number = 100 * place.epoch + 10 * place.batch + part] {
          ++made;
          return number;
        }));
      if (++batch.next.batch == kBatches) batch.next = {place.epoch + 1, 0};
      place = batch.next;
      return batch;
    };
  };
  return task;
}

TEST(StepBatches, JoinsTheBatchesOfAStepAndEndsStepsWithTheEpoch) {
  const int before = Threads();
  for (const int threads : {1, 3}) {
    SetThreads(threads);
    std::atomic<int> made = 0;
    const TrainingTask task = NumbersTask(made);
    StepBatches batches(task, {0, 1}, 3, nullptr);
    const auto numbers = [&] {
      std::vector<std::int64_t> all;
      for (const TrainingPart& part : batches.Next().parts) all.push_back(part.As<std::int64_t>());
      return all;
    };
    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{10, 11, 20, 21, 22, 30}));
    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{40, 41}));
    const TrainingBatch next = batches.Next();
    EXPECT_EQ(next.labels, 0 + 1 + 2);
    EXPECT_EQ(next.next, (BatchPosition{1, 3}));
    EXPECT_EQ(next.parts.back().As<std::int64_t>(), 122);
  }
  SetThreads(before);
}

TEST(StepBatches, ARankMakesOnlyItsOwnParts) {
  for (const int size : {2, 4}) {
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(size));
    RunRanks(size, [&](Ranks& ranks) {
      std::atomic<int> made = 0;
      const TrainingTask task = NumbersTask(made);
      StepBatches batches(task, {}, 2, &ranks);
      int own = 0;
      for (int step = 0; step < 20; ++step)
        for (const TrainingPart& part : batches.Next().parts)
          if (part.made()) {
            found[static_cast<std::size_t>(ranks.rank())].push_back(100 * step + part.As<std::int64_t>());
            ++own;
          }
      EXPECT_LE(made, own + Threads() + 3) << "parts of other ranks were made";
    });
    std::vector<std::int64_t> all;
    for (const auto& of_rank : found) all.insert(all.end(), of_rank.begin(), of_rank.end());
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "two ranks made the same part";
    std::atomic<int> made = 0;
    const TrainingTask task = NumbersTask(made);
    StepBatches alone(task, {}, 2, nullptr);
    std::size_t expected = 0;
    for (int step = 0; step < 20; ++step) expected += alone.Next().parts.size();
    EXPECT_EQ(all.size(), expected);
  }
}

}  // namespace
}  // namespace headlight::step_batches_test

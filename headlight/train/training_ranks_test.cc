// Checks that training on several ranks gives the same bits as training on one rank.
#include "headlight/train/training_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/ranks_testing.h"
#include "headlight/base/test_support.h"
#include "headlight/train/points_testing.h"

namespace headlight::training_ranks_test {
namespace {

using testing::HasSubstr;

// The final state of a rank.
struct End {
  std::vector<float> values;
  std::vector<double> validated;  // losses of all validations
  bool operator==(const End&) const = default;
};

struct Run {
  int ranks = 1;
  TrainingOptions options = PointOptions(9);
  std::int64_t stop = 0;  // the last rank requests a stop after this step; 0: never
  bool resume = false;
  std::function<void(int rank, TrainingTask& task, Json& run)> change = {};
};

// Trains in the folder, with threads as ranks. Returns the final states of all ranks.
std::vector<End> Train(const std::string& folder, const Run& run) {
  std::vector<End> ends(static_cast<std::size_t>(run.ranks));
  RunRanks(run.ranks, [&](Ranks& ranks) {
    PointModel model(8000);  // the gradient of this model has two pieces
    End& end = ends[static_cast<std::size_t>(ranks.rank())];
    ranks.hosts.assign(static_cast<std::size_t>(ranks.size()), "here");
    TrainingOptions options = run.options;
    options.ranks = &ranks;
    TrainingTask task = SidesTask(model);
    Json of = Json::Object{{"corpus_hash", "1234"}};
    if (run.change) run.change(ranks.rank(), task, of);
    std::int64_t step = 0;
    task.after_step = [&, inner = task.after_step](std::int64_t done, std::int64_t all) {
      step = done;
      if (inner) inner(done, all);
    };
    const TrainingObserver observer{
        .step = {},
        .progress = [&](const StepReport&) { EXPECT_EQ(ranks.rank(), 0); },
        .validation = [&](const ValidationReport& report) { end.validated.push_back(report.loss); },
        .note = {},
        .stop = [&] { return run.stop > 0 && step == run.stop && ranks.rank() + 1 == ranks.size(); }};
    const TrainingOutput output{.checkpoint = folder, .run = of, .save_best = {}, .save_last = {}};
    headlight::Train(task, options, output, run.resume, observer);
    end.values = model.parameters().values().ToVector<float>();
  });
  return ends;
}

TrainingOptions ManyOptions(GradientType type) {
  TrainingOptions options = PointOptions(9);
  options.accumulation = 2;  // six micro-batches per step
  options.adam.average_decay = 0.5;
  options.adam.clip_norm = 0.01;
  options.average_last = 3;
  options.gradient_type = type;
  return options;
}

TEST(TrainingRanks, EndWithTheSameBitsAsOne) {
  for (const GradientType type : {GradientType::float32, GradientType::bfloat16}) {
    const TemporaryFolder folder;
    const End one = Train(folder.File("one"), {.ranks = 1, .options = ManyOptions(type)}).front();
    EXPECT_GE(one.validated.size(), 4U);
    for (const int size : {2, 3, 4, 8})
      for (const bool shard : {false, true}) {
        if (type == GradientType::bfloat16 && (size != 3 || !shard)) continue;
        if (shard && size > 3) continue;
        TrainingOptions options = ManyOptions(type);
        options.shard_optimizer = shard;
        const std::string path = folder.File(fmt::format("{}{}", size, shard));
        const std::vector<End> ends = Train(path, {.ranks = size, .options = options});
        EXPECT_EQ(ends.front(), one) << size << " ranks";
        for (const End& end : ends) EXPECT_EQ(end.values, one.values) << size << " ranks";
        EXPECT_TRUE(ReadFile(path + "/training.safetensors") == ReadFile(folder.File("one/training.safetensors")));
      }
  }
}

TEST(TrainingRanks, ResumeWithAnotherNumberOfThem) {
  const TemporaryFolder folder;
  TrainingOptions options = ManyOptions(GradientType::float32);
  const End whole = Train(folder.File("whole"), {.ranks = 1, .options = options}).front();
  options.shard_optimizer = true;
  Train(folder.File("cut"), {.ranks = 2, .options = options, .stop = 3, .resume = true});
  Train(folder.File("cut"), {.ranks = 1, .options = options, .stop = 4, .resume = true});
  options.shard_optimizer = false;
  Train(folder.File("cut"), {.ranks = 4, .options = options, .stop = 7, .resume = true});
  for (const End& end : Train(folder.File("cut"), {.ranks = 3, .options = options, .resume = true}))
    EXPECT_EQ(end.values, whole.values);
}

TEST(TrainingRanks, ErrorsNameARankWithAnotherCorpusOrModel) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::function<void(int, TrainingTask&, Json&)>& change) {
    return ErrorOf([&] { Train(folder.File("c"), {.ranks = 3, .change = change}); });
  };
  EXPECT_THAT(refusal([](int rank, TrainingTask&, Json& run) {
                if (rank == 2) run.Set("corpus_hash", "5678");
              }),
              HasSubstr("rank 2 (host here) has corpus_hash \"5678\""));
  EXPECT_THAT(refusal([](int rank, TrainingTask& task, Json&) {
                if (rank == 1) task.model->parameters().values().Fill(0.5);
              }),
              HasSubstr("rank 1 (host here) has initial_values"));
}

TEST(TrainingRanks, ErrorsNameTheFailedRankAndTheStep) {
  const TemporaryFolder folder;
  const auto fails = [](int rank, TrainingTask& task, Json&) {
    if (rank == 1) task.after_step = [](std::int64_t step, std::int64_t) { Check(step < 3, "the disk is full"); };
  };
  EXPECT_THAT(ErrorOf([&] { Train(folder.File("c"), {.ranks = 2, .change = fails}); }),
              HasSubstr("rank 1 (host here), step 3:"));
}

TEST(TrainingRanks, ErrorsReportDivergingNumbers) {
  const TemporaryFolder folder;
  const auto parts = [](int rank, TrainingTask& task, Json&) {
    Model* const model = task.model;
    if (rank == 1)
      task.after_step = [model](std::int64_t step, std::int64_t) {
        if (step == 2) model->parameters().values().span<float>()[0] += 1;
      };
  };
  EXPECT_THAT(ErrorOf([&] { Train(folder.File("c"), {.ranks = 2, .change = parts}); }),
              HasSubstr("rank 1 (host here) has other numbers"));
}

// Checks that all ranks use the same time. The learning rate depends on the time, and the last rank's validations take
// longer.
TEST(TrainingRanks, ShareOneTimeAfterAValidation) {
  const TemporaryFolder folder;
  TrainingOptions options = PointOptions(0);
  options.minutes = 1;
  options.schedule = {.kind = ScheduleKind::linear, .warmup = 1, .peak = 0.1};
  const auto slow = [](int rank, TrainingTask& task, Json&) {
    task.validate = [rank, validate = task.validate](const PassWatch& watch) {
      ValidationReport report = validate(watch);
      std::this_thread::sleep_for(std::chrono::milliseconds(rank == 2 ? 10 : 0));
      return report;
    };
  };
  const std::vector<End> ends = Train(folder.File("c"), {.ranks = 3, .options = options, .stop = 7, .change = slow});
  EXPECT_GE(ends[0].validated.size(), 3U);
  EXPECT_EQ(ends[1].values, ends[0].values);
  EXPECT_EQ(ends[2].values, ends[0].values);
}

TEST(TrainingRanks, ASlowRankIsNamedOnce) {
  RunRanks(3, [](Ranks& all) {
    TrainingRanks ranks(&all);
    for (int step = 1; step <= 2; ++step) {
      ranks.Agree({.busy_seconds = all.rank() == 2 ? 3.0 : 1.0}, step);
      const std::optional<std::string> slow = ranks.SlowRank();
      EXPECT_EQ(slow.has_value(), step == 1);
      if (slow) {
        EXPECT_THAT(*slow, HasSubstr("rank 2 is slow"));
      }
    }
  });
}

}  // namespace
}  // namespace headlight::training_ranks_test

// Tests when the training loop validates, logs, stops and resumes, on a minimal task.
#include "headlight/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/linear.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/points_testing.h"

namespace headlight::trainer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Setting {
  TemporaryFolder folder;
  PointModel model;
  std::vector<std::int64_t> validated = {}, logged = {};
  ValidationReport last = {};
  TrainingObserver observer = {.step = [this](const StepReport& report) { logged.push_back(report.step); },
                               .progress = {},
                               .validation =
                                   [this](const ValidationReport& report) {
                                     validated.push_back(report.step);
                                     last = report;
                                   },
                               .note = {},
                               .stop = {}};

  TrainingOutput Output() const {
    return {.checkpoint = folder.File("c"), .run = Json::Object{}, .save_best = {}, .save_last = {}};
  }
  TrainingResult Run(const TrainingTask& task, const TrainingOptions& options, bool resume = false) {
    return Train(task, options, Output(), resume, observer);
  }
  std::vector<float> Values() const { return model.parameters().values().ToVector<float>(); }
};

TEST(Trainer, TrainsOnAnyPayload) {
  Setting setting;
  setting.Run(SidesTask(setting.model), PointOptions(60));
  EXPECT_LT(setting.last.loss, 0.2);
}

TEST(Trainer, ARunResumesOnlyWithTheSameSettings) {
  Setting setting;
  const auto train = [&](Json::Object run, int steps) {
    TrainingOutput output = setting.Output();
    output.run = Json(std::move(run));
    Train(SidesTask(setting.model), PointOptions(steps), output, /*resume=*/true, setting.observer);
  };
  train({{"seed", 1}, {"gradient_type", "bfloat16"}}, 4);
  EXPECT_THAT(ErrorOf([&] { train({{"seed", 1}}, 8); }), HasSubstr("gradient_type \"bfloat16\", not none"));
  EXPECT_THAT(ErrorOf([&] {
                train({{"seed", 1}, {"gradient_type", "bfloat16"}, {"more", 2}}, 8);
              }),
              HasSubstr("more none, not 2"));
  train({{"seed", 1}, {"gradient_type", "bfloat16"}}, 8);
}

TEST(Trainer, ALossThatIsNotASumHasOnePartPerBatch) {
  Setting setting;
  TrainingTask task = SidesTask(setting.model);
  // The loss is InfoNCE: each point must match its rotated copy among the copies of the whole batch.
  task.batches = [](BatchPosition) {
    return [random = Random(9)]() mutable {
      const Points points = Draw(random, 16);
      return TrainingBatch{.parts = {TrainingPart(points)}, .labels = 1, .next = {0, 1}, .batches_in_epoch = 1000};
    };
  };
  task.loss = [&](Context& context, const TrainingPart& part, double scale) {
    const Tensor& x = part.As<Points>().x;
    const Tensor turned = Tensor::Empty(x.shape());
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      turned.matrix<float>().row(i)[0] = x.matrix<float>().row(i)[1];
      turned.matrix<float>().row(i)[1] = -x.matrix<float>().row(i)[0];
    }
    std::vector<std::int32_t> own(static_cast<std::size_t>(x.rows()));
    std::iota(own.begin(), own.end(), 0);
    return ops::CrossEntropy(ops::Linear(setting.model(context, x), {.value = turned}), own,
                             scale / static_cast<double>(x.rows()));
  };
  std::vector<double> losses;
  setting.observer.step = [&](const StepReport& report) { losses.push_back(report.loss); };
  TrainingOptions options = PointOptions(80);
  options.log_every = 10;
  setting.Run(task, options);
  EXPECT_LT(losses.back(), 0.7 * losses.front());
}

TEST(Trainer, ValidatesTheLastStepEvenIfAnEarlierOneIsBest) {
  Setting setting;
  TrainingTask task = SidesTask(setting.model);
  task.validate = [loss = 1.0](const PassWatch&) mutable {
    ValidationReport report;
    report.loss = loss++;  // the first validation is the best
    return report;
  };
  setting.Run(task, PointOptions(7));
  EXPECT_THAT(setting.validated, ElementsAre(2, 4, 6, 7));
  setting.Run(task, PointOptions(7), /*resume=*/true);
  EXPECT_THAT(setting.validated, ElementsAre(2, 4, 6, 7));  // each step is validated once
}

TEST(Trainer, LogsNothingIfTheIntervalIsZero) {
  Setting setting;
  TrainingOptions options = PointOptions(4);
  options.log_every = 0;
  setting.Run(SidesTask(setting.model), options);
  EXPECT_THAT(setting.logged, ElementsAre());
  options.log_every = 3;
  setting.Run(SidesTask(setting.model), options);
  EXPECT_THAT(setting.logged, ElementsAre(3));
}

TEST(Trainer, StopsDuringAValidationAndResumesWithTheSameBits) {
  TrainingOptions options = PointOptions(9);
  options.average_last = 3;
  options.adam.average_decay = 0.5;
  Setting whole;
  whole.Run(SidesTask(whole.model), options);

  Setting cut;
  int asked_in_validation = 0;
  TrainingTask task = SidesTask(cut.model);
  task.validate = [&, plain = task.validate](const PassWatch& watch) {
    ++asked_in_validation;
    return plain(watch);
  };
  // Each validation is interrupted once.
  for (int validations = 1; validations <= 6; ++validations) {
    const int before = asked_in_validation;
    const std::vector<std::int64_t> validated = cut.validated;
    cut.observer.stop = [&] { return asked_in_validation == before + (validations == 1 ? 1 : 2); };
    EXPECT_EQ(cut.Run(task, options, true).end, TrainingEnd::stopped) << validations;
    EXPECT_EQ(cut.validated.size(), validated.size() + (validations == 1 ? 0 : 1));
  }
  cut.observer.stop = {};
  EXPECT_EQ(cut.Run(task, options, true).end, TrainingEnd::limit);
  EXPECT_EQ(cut.validated, whole.validated);
  EXPECT_EQ(cut.last.loss, whole.last.loss);
  EXPECT_EQ(cut.Values(), whole.Values());
}

// Tests a task with a teacher, whose weights are an average of the student's weights.
TEST(Trainer, KeepsATasksOwnStateInTheCheckpoint) {
  const auto run = [](const std::vector<std::int64_t>& stops) {
    Setting setting;
    Tensor teacher;
    for (const std::int64_t stop : stops) {
      teacher = setting.model.parameters().values().Clone();  // a new process starts without the teacher's values
      TrainingTask task = SidesTask(setting.model);
      task.state = {{"teacher", teacher}};
      task.after_step = [&](std::int64_t, std::int64_t) {
        const auto student = setting.model.parameters().values().span<float>();
        const auto average = teacher.span<float>();
        for (std::size_t i = 0; i < average.size(); ++i) average[i] = 0.9F * average[i] + 0.1F * student[i];
      };
      std::int64_t step = 0;
      setting.observer.progress = [&](const StepReport& report) { step = report.step; };
      setting.observer.stop = [&] { return step == stop; };
      setting.Run(task, PointOptions(12), true);
    }
    return teacher.ToVector<float>();
  };
  EXPECT_EQ(run({3, 8, 100}), run({100}));
}

TEST(Trainer, ChangesTheWeightDecayToItsFinalValue) {
  const auto run = [](std::optional<double> last, const std::vector<std::int64_t>& stops) {
    Setting setting;
    TrainingOptions options = PointOptions(12);
    options.schedule = {.kind = ScheduleKind::cosine, .warmup = 2, .peak = 0.1, .total = 12};
    options.adam.weight_decay = 0.5;
    options.final_weight_decay = last;
    for (const std::int64_t stop : stops) {
      std::int64_t step = 0;
      setting.observer.progress = [&](const StepReport& report) { step = report.step; };
      setting.observer.stop = [&] { return step == stop; };
      setting.Run(SidesTask(setting.model), options, true);
    }
    return setting.model.parameters().values().ToVector<float>();
  };
  const std::vector<float> constant = run({}, {100});
  EXPECT_EQ(run(0.5, {100}), constant);
  EXPECT_NE(run(5, {100}), constant);
  EXPECT_EQ(run(5, {3, 8, 100}), run(5, {100}));
}

TEST(Trainer, KeepsTheLastModelAsTheBestIfTheTaskSaysSo) {
  Setting setting;
  TrainingTask task = SidesTask(setting.model);
  double loss = 1;
  task.validate = [&](const PassWatch&) {
    ValidationReport report;
    report.loss = loss += 1;  // the loss increases at every validation
    return report;
  };
  task.last_is_best = true;
  EXPECT_EQ(setting.Run(task, PointOptions(6)).best_step, 6);
}

TEST(Trainer, RefusesACheckpointOfAnotherVersion) {
  Setting setting;
  setting.Run(SidesTask(setting.model), PointOptions(4));
  const std::string path = setting.folder.File("c/state.json");
  std::string state = ReadFile(path);
  const std::size_t version = state.find("\"version\": 4");
  ASSERT_NE(version, std::string::npos);
  WriteFile(path, state.replace(version, 12, "\"version\": 2"));
  EXPECT_THAT(ErrorOf([&] { setting.Run(SidesTask(setting.model), PointOptions(8), true); }),
              HasSubstr("version 2, but this program"));
}

}  // namespace
}  // namespace headlight::trainer_test

#include "headlight/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlight/base/error.h"

namespace headlight::schedule_test {
namespace {

TEST(Schedule, MatchesThePaper) {
  const Schedule schedule;  // model 512, warm-up 4000
  for (const std::int64_t step : {1, 100, 3999, 4000, 4001, 100000}) {
    const auto t = static_cast<double>(step);
    EXPECT_NEAR(LearningRate(schedule, step),
                std::pow(512, -0.5) * std::min(std::pow(t, -0.5), t * std::pow(4000, -1.5)), 1e-12);
  }
}

TEST(Schedule, EachKindPeaksAtTheEndOfTheWarmUp) {
  for (const ScheduleKind kind :
       {ScheduleKind::paper, ScheduleKind::inverse_square_root, ScheduleKind::cosine, ScheduleKind::linear}) {
    const Schedule schedule{kind, 10, 0.5, 64, 110};
    EXPECT_DOUBLE_EQ(LearningRate(schedule, 5), 0.25);
    EXPECT_DOUBLE_EQ(LearningRate(schedule, 10), 0.5);
    EXPECT_LT(LearningRate(schedule, 11), 0.5);
  }
  EXPECT_NEAR(LearningRate({ScheduleKind::cosine, 10, 0.5, 64, 109}, 60), 0.25, 1e-12);
  EXPECT_NEAR(LearningRate({ScheduleKind::linear, 10, 0.5, 64, 109}, 85), 0.125, 1e-12);
  EXPECT_NEAR(LearningRate({ScheduleKind::inverse_square_root, 10, 0.5, 64}, 40), 0.25, 1e-12);
}

TEST(Schedule, ReachesZeroAfterTheLastStep) {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear}) {
    const Schedule schedule{kind, 10, 0.5, 64, 110};
    EXPECT_GT(LearningRate(schedule, 110), 1e-5);
    EXPECT_NEAR(LearningRate(schedule, 111), 0, 1e-12);
  }
}

TEST(Schedule, FollowsTheTimeIfTheRunEndsAfterATime) {
  const Schedule cosine{ScheduleKind::cosine, 10, 0.5}, linear{ScheduleKind::linear, 10, 0.5};
  CheckSchedule(cosine);
  EXPECT_DOUBLE_EQ(LearningRate(cosine, 5, 0.9), 0.25);  // the warm-up has not ended
  EXPECT_NEAR(LearningRate(cosine, 50, 0.5), 0.25, 1e-12);
  EXPECT_NEAR(LearningRate(linear, 50, 0.8), 0.1, 1e-12);
  EXPECT_NEAR(LearningRate(cosine, 50, 1), 0, 1e-12);
}

TEST(Schedule, RefusesImpossibleSchedules) {
  EXPECT_THROW(CheckSchedule({ScheduleKind::paper, 0}), Error);
  EXPECT_THROW(CheckSchedule({ScheduleKind::paper, 10, -1}), Error);
  EXPECT_THROW(CheckSchedule({ScheduleKind::paper, 10, std::nan("")}), Error);
  EXPECT_THROW(CheckSchedule({ScheduleKind::cosine, 10, 1, 64, 9}), Error);
  EXPECT_THROW(CheckSchedule({ScheduleKind::linear, 10, 0, 64, 20}), Error);
}

}  // namespace
}  // namespace headlight::schedule_test

#include "headlight/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headlight/base/error.h"

namespace headlight {

void CheckSchedule(const Schedule& schedule) {
  Check(schedule.warmup >= 1, "the warm-up must be at least 1 step, not {}", schedule.warmup);
  Check(schedule.peak >= 0 && std::isfinite(schedule.peak), "the learning rate must be a positive number, not {}",
        schedule.peak);
  Check(!FallsToZero(schedule.kind) || schedule.total == 0 || schedule.total >= schedule.warmup,
        "`warmup` has {} steps, and the training only {}, at the end of which the learning rate is zero; use a shorter "
        "warm-up or more steps or epochs",
        schedule.warmup, schedule.total);
  Check(schedule.kind == ScheduleKind::paper || schedule.peak > 0, "this schedule needs a learning rate");
}

double LearningRate(const Schedule& schedule, std::int64_t step, double done) {
  const auto t = static_cast<double>(step), warmup = static_cast<double>(schedule.warmup);
  const double peak = schedule.peak > 0 ? schedule.peak : 1 / std::sqrt(static_cast<double>(schedule.model) * warmup);
  if (t < warmup) return peak * t / warmup;
  const double progress =
      schedule.total > 0 ? std::min(1.0, (t - warmup) / (static_cast<double>(schedule.total + 1) - warmup)) : done;
  switch (schedule.kind) {
    case ScheduleKind::paper:
    case ScheduleKind::inverse_square_root:
      return peak * std::sqrt(warmup / t);
    case ScheduleKind::cosine:
      return peak * (1 + std::cos(std::numbers::pi * progress)) / 2;
    case ScheduleKind::linear:
      return peak * (1 - progress);
  }
  return 0;
}

}  // namespace headlight

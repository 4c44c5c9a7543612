// Learning rate schedules.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"

namespace headlight {

enum class ScheduleKind { paper, inverse_square_root, cosine, linear };

/// Every kind rises linearly to its peak at step `warmup`. After that:
///   paper:                model^-0.5 * step^-0.5 (Vaswani et al., 2017, eq. 3), scaled to `peak` if it is given;
///   inverse_square_root:  peak * sqrt(warmup / step), the same curve without a default peak;
///   cosine:               to 0 at step `total` + 1 along a cosine (Loshchilov and Hutter, 2017);
///   linear:               to 0 at step `total` + 1 along a straight line.
struct Schedule {
  ScheduleKind kind = ScheduleKind::paper;
  std::int64_t warmup = 4000;
  double peak = 0;  // 0: the paper's (model * warmup)^-0.5
  std::int64_t model = 512;
  std::int64_t total = 0;  // steps, required by cosine and linear; 0: the run ends after a time
};

constexpr bool FallsToZero(ScheduleKind kind) { return kind == ScheduleKind::cosine || kind == ScheduleKind::linear; }

/// Throws Error if the schedule is impossible.
HEADLIGHT_API void CheckSchedule(const Schedule& schedule);

/// The learning rate of a step, counted from 1. If the run ends after a time, `done` is the share of it that has
/// passed.
HEADLIGHT_API double LearningRate(const Schedule& schedule, std::int64_t step, double done = 0);

}  // namespace headlight

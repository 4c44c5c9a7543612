// Learning rate schedules with a linear warm-up.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"

namespace headlight {

enum class ScheduleKind { paper, inverse_square_root, cosine, linear };

/// A learning rate schedule. Every kind rises linearly to its peak at step `warmup`. The kinds then differ:
///   paper:                model^-0.5 * step^-0.5 (Vaswani et al., 2017, eq. 3), scaled to `peak` if it is given
///   inverse_square_root:  peak * sqrt(warmup / step), the same curve without a default peak
///   cosine:               to 0 at step `total` + 1 along a cosine (Loshchilov and Hutter, 2017)
///   linear:               to 0 at step `total` + 1 along a straight line
struct Schedule {
  ScheduleKind kind = ScheduleKind::paper;
  std::int64_t warmup = 4000;
  double peak = 0;  // 0: the peak of the paper, (model * warmup)^-0.5
  std::int64_t model = 512;
  std::int64_t total = 0;  // number of steps, required by cosine and linear; 0: the run has a time limit
};

constexpr bool FallsToZero(ScheduleKind kind) { return kind == ScheduleKind::cosine || kind == ScheduleKind::linear; }

/// Throws Error if the options are out of range.
HEADLIGHT_API void CheckSchedule(const Schedule& schedule);

/// Returns the learning rate of a step, counted from 1. If the run has a time limit, `done` is the elapsed fraction of
/// the time.
HEADLIGHT_API double LearningRate(const Schedule& schedule, std::int64_t step, double done = 0);

}  // namespace headlight

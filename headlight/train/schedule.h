// Learning rates over the steps of a training.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"

namespace headlight {

enum class ScheduleKind { paper, inverse_square_root, cosine, linear };

// Every kind rises linearly to its peak at step `warmup`. From there
//   paper:                model^-0.5 * step^-0.5 (Vaswani et al., 2017, eq. 3), the peak being what it is, or scaled to
//                         the peak that is given;
//   inverse_square_root:  peak * sqrt(warmup / step), the same curve without a default peak;
//   cosine, linear:       down to 0, which the step after the last, `total` + 1, would have (Loshchilov and Hutter,
//   2017,
//                         and a straight line).
struct Schedule {
  ScheduleKind kind = ScheduleKind::paper;
  std::int64_t warmup = 4000;
  double peak = 0;  // 0: the paper's (model * warmup)^-0.5
  std::int64_t model = 512;
  std::int64_t total = 0;  // steps, which cosine and linear need; 0: the end is a time
};

constexpr bool FallsToZero(ScheduleKind kind) { return kind == ScheduleKind::cosine || kind == ScheduleKind::linear; }

// Throws Error where the schedule is impossible.
HEADLIGHT_API void CheckSchedule(const Schedule& schedule);

// Of a step, from 1. Where the end is a time, `done` is the share of it that is over.
HEADLIGHT_API double LearningRate(const Schedule& schedule, std::int64_t step, double done = 0);

}  // namespace headlight

#include "headlight/kernels/cross_entropy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/cross_entropy.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway's order.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

// Everything is relative to the row's maximum, so that large logits cost no digits. The gradient is written where it
// has data; it may lie over the logits.
template <typename T>
void CrossEntropyChunk(Matrix<const T> logits, const std::int32_t* labels, T smoothing, T weight, double* losses,
                       Matrix<T> gradient) {
  const hn::ScalableTag<T> d;
  const std::int64_t vocab = logits.columns;
  for (std::int64_t row = 0; row < logits.rows; ++row) {
    const T* const in = logits.row(row);
    T* const out = gradient.data ? gradient.row(row) : nullptr;
    const std::int32_t label = labels[row];
    if (label < 0) {
      losses[row] = 0;
      if (out) std::fill_n(out, vocab, T{0});
      continue;
    }
    const T highest = MaxOverLanes(d, vocab, in);
    const auto max = hn::Set(d, highest);
    const double label_logit = static_cast<double>(in[label] - highest);
    auto logit_sums = hn::Zero(d);
    const T exp_sum = SumOverLanes(d, vocab, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto logit = hn::Sub(LoadLanes(d, in + column, lanes), max);
      const auto exp = WeightOf(d, logit);
      if (smoothing != 0) logit_sums = hn::Add(logit_sums, KeepLanes(d, logit, lanes, hn::Zero(d)));
      if (out) StoreLanes(exp, d, out + column, lanes);
      return exp;
    });
    const double logit_sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, logit_sums)));
    losses[row] = std::log(static_cast<double>(exp_sum)) - (1 - static_cast<double>(smoothing)) * label_logit -
                  (smoothing != 0 ? static_cast<double>(smoothing) * logit_sum / static_cast<double>(vocab) : 0);
    if (!out) continue;
    const auto scale = hn::Set(d, weight / exp_sum);
    const auto uniform = hn::Set(d, weight * smoothing / static_cast<T>(vocab));
    ForLanes(d, vocab, [&](std::int64_t column, auto lanes) HWY_ATTR {
      StoreLanes(hn::MulSub(LoadLanes(d, out + column, lanes), scale, uniform), d, out + column, lanes);
    });
    out[label] -= weight * (1 - smoothing);
  }
}

HEADLIGHT_KERNEL(CrossEntropyChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {
namespace {

HEADLIGHT_EXPORT(CrossEntropyChunk);

template <typename T>
void Run(Matrix<const T> logits, std::span<const std::int32_t> labels, double label_smoothing, double weight,
         std::span<double> losses, Matrix<T> gradient) {
  Ensure(std::ssize(labels) == logits.rows && std::ssize(losses) == logits.rows,
         "CrossEntropyRows: {} rows of logits, {} labels, {} losses", logits.rows, labels.size(), losses.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    Check(labels[row] < logits.columns, "cross-entropy: the label of row {} is {}, but there are {} classes", row,
          labels[row], logits.columns);
  }
  const Profiled profiled("cross-entropy", 0, BytesOf(logits, 2));
  const auto chunk = HEADLIGHT_DISPATCH(CrossEntropyChunk, T);
  ForRowChunks(logits.rows, logits.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(logits.Rows(first, rows), labels.data() + first, static_cast<T>(label_smoothing), static_cast<T>(weight),
          losses.data() + first, gradient.data ? gradient.Rows(first, rows) : gradient);
  });
}

}  // namespace

template <typename T>
void CrossEntropyRows(Matrix<const T> logits, std::span<const std::int32_t> labels, double label_smoothing,
                      std::span<double> losses) {
  Run<T>(logits, labels, label_smoothing, 0, losses, {});
}

template <typename T>
void CrossEntropyRowsGradient(Matrix<T> logits, std::span<const std::int32_t> labels, double label_smoothing,
                              double weight, std::span<double> losses) {
  Run<T>(logits, labels, label_smoothing, weight, losses, logits);
}

#define HEADLIGHT_CROSS_ENTROPY(T)                                                                           \
  template void CrossEntropyRows(Matrix<const T>, std::span<const std::int32_t>, double, std::span<double>); \
  template void CrossEntropyRowsGradient(Matrix<T>, std::span<const std::int32_t>, double, double, std::span<double>)
HEADLIGHT_CROSS_ENTROPY(float);
HEADLIGHT_CROSS_ENTROPY(double);
#undef HEADLIGHT_CROSS_ENTROPY

}  // namespace headlight::kernels
#endif

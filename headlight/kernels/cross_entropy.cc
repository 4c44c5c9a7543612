#include "headlight/kernels/cross_entropy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/cross_entropy.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
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

// Computes the losses of some rows. The row's maximum is subtracted from its logits, so that large logits lose no
// precision. If `gradient` has data, also writes the gradient, which may overwrite the logits.
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

template <typename T>
void ConsistentCrossEntropyChunk(Matrix<T> x, Matrix<T> y, const std::int32_t* labels, T smoothing, T consistency,
                                 T weight, double* losses) {
  const hn::ScalableTag<T> d;
  const std::int64_t vocab = x.columns;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    T* const in_x = x.row(row);
    T* const in_y = y.row(row);
    const std::int32_t label = labels[row];
    if (label < 0) {
      losses[row] = 0;
      std::fill_n(in_x, vocab, T{0});
      std::fill_n(in_y, vocab, T{0});
      continue;
    }
    const T highest_x = MaxOverLanes(d, vocab, in_x), highest_y = MaxOverLanes(d, vocab, in_y);
    const auto max_x = hn::Set(d, highest_x), max_y = hn::Set(d, highest_y);
    const double label_logits =
        static_cast<double>(in_x[label] - highest_x) + static_cast<double>(in_y[label] - highest_y);
    // The sums over the row of exp(x), of exp(y), of exp(x) (x - y), of exp(y) (x - y), and of x + y. x and y are
    // relative to their maxima.
    auto exp_y_sums = hn::Zero(d), x_products = hn::Zero(d), y_products = hn::Zero(d), logit_sums = hn::Zero(d);
    const T exp_x_sum = SumOverLanes(d, vocab, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto logit_x = hn::Sub(LoadLanes(d, in_x + column, lanes), max_x);
      const auto logit_y = hn::Sub(LoadLanes(d, in_y + column, lanes), max_y);
      const auto zero = hn::Zero(d), difference = hn::Sub(logit_x, logit_y);
      const auto exp_x = WeightOf(d, logit_x), exp_y = KeepLanes(d, WeightOf(d, logit_y), lanes, zero);
      exp_y_sums = hn::Add(exp_y_sums, exp_y);
      x_products = hn::MulAdd(KeepLanes(d, exp_x, lanes, zero), difference, x_products);
      y_products = hn::MulAdd(exp_y, difference, y_products);
      logit_sums = hn::Add(logit_sums, KeepLanes(d, hn::Add(logit_x, logit_y), lanes, zero));
      return exp_x;
    });
    const T exp_y_sum = hn::GetLane(hn::SumOfLanes(d, exp_y_sums));
    const double log_x = std::log(static_cast<double>(exp_x_sum)), log_y = std::log(static_cast<double>(exp_y_sum));
    const double x_to_y = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, x_products)) / exp_x_sum) - (log_x - log_y);
    const double y_to_x = (log_x - log_y) - static_cast<double>(hn::GetLane(hn::SumOfLanes(d, y_products)) / exp_y_sum);
    const double e = static_cast<double>(smoothing);
    const double mean_logits =
        static_cast<double>(hn::GetLane(hn::SumOfLanes(d, logit_sums))) / static_cast<double>(vocab);
    losses[row] = (log_x + log_y - (1 - e) * label_logits - e * mean_logits) / 2 +
                  static_cast<double>(consistency) / 4 * (x_to_y + y_to_x);
    // Let D = log(p / q). The gradient of KL(p || q) + KL(q || p) with respect to x is p (D - KL(p || q) + 1) - q. With
    // respect to y, it is q (-D - KL(q || p) + 1) - p.
    const T half = weight / 2, quarter = weight * consistency / 4;
    const auto factor = hn::Set(d, quarter), uniform = hn::Set(d, half * smoothing / static_cast<T>(vocab));
    const auto inverse_x = hn::Set(d, 1 / exp_x_sum), inverse_y = hn::Set(d, 1 / exp_y_sum);
    const auto offset_x = hn::Set(d, half + quarter * static_cast<T>(1 - x_to_y));
    const auto offset_y = hn::Set(d, half + quarter * static_cast<T>(1 - y_to_x));
    const auto log_ratio = hn::Set(d, static_cast<T>(log_x - log_y));
    ForLanes(d, vocab, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto logit_x = hn::Sub(LoadLanes(d, in_x + column, lanes), max_x);
      const auto logit_y = hn::Sub(LoadLanes(d, in_y + column, lanes), max_y);
      const auto p = hn::Mul(WeightOf(d, logit_x), inverse_x), q = hn::Mul(WeightOf(d, logit_y), inverse_y);
      const auto scaled = hn::Mul(factor, hn::Sub(hn::Sub(logit_x, logit_y), log_ratio));
      const auto of_x = hn::MulSub(p, hn::Add(offset_x, scaled), hn::MulAdd(factor, q, uniform));
      const auto of_y = hn::MulSub(q, hn::Sub(offset_y, scaled), hn::MulAdd(factor, p, uniform));
      StoreLanes(of_x, d, in_x + column, lanes);
      StoreLanes(of_y, d, in_y + column, lanes);
    });
    in_x[label] -= half * (1 - smoothing);
    in_y[label] -= half * (1 - smoothing);
  }
}

HEADLIGHT_KERNEL(ConsistentCrossEntropyChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {
namespace {

HEADLIGHT_EXPORT(CrossEntropyChunk);
HEADLIGHT_EXPORT(ConsistentCrossEntropyChunk);

template <typename T>
void CheckRows(Matrix<const T> logits, std::span<const std::int32_t> labels, std::span<const double> losses) {
  Ensure(std::ssize(labels) == logits.rows && std::ssize(losses) == logits.rows,
         "CrossEntropyRows: {} rows of logits, {} labels, {} losses", logits.rows, labels.size(), losses.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    Check(labels[row] < logits.columns, "cross-entropy: the label of row {} is {}, but there are {} classes", row,
          labels[row], logits.columns);
  }
}

template <typename T>
void Run(Matrix<const T> logits, std::span<const std::int32_t> labels, double label_smoothing, double weight,
         std::span<double> losses, Matrix<T> gradient) {
  CheckRows<T>(logits, labels, losses);
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

template <typename T>
void ConsistentCrossEntropyRowsGradient(Matrix<T> x, Matrix<T> y, std::span<const std::int32_t> labels,
                                        double label_smoothing, double consistency, double weight,
                                        std::span<double> losses) {
  CheckRows<T>(x, labels, losses);
  Ensure(y.rows == x.rows && y.columns == x.columns, "two passes of {} x {} and {} x {} logits", x.rows, x.columns,
         y.rows, y.columns);
  const Profiled profiled("cross-entropy", 0, BytesOf(x, 4));
  const auto chunk = HEADLIGHT_DISPATCH(ConsistentCrossEntropyChunk, T);
  ForRowChunks(x.rows, 2 * x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), y.Rows(first, rows), labels.data() + first, static_cast<T>(label_smoothing),
          static_cast<T>(consistency), static_cast<T>(weight), losses.data() + first);
  });
}

#define HEADLIGHT_CROSS_ENTROPY(T)                                                                                     \
  template void CrossEntropyRows(Matrix<const T>, std::span<const std::int32_t>, double, std::span<double>);           \
  template void CrossEntropyRowsGradient(Matrix<T>, std::span<const std::int32_t>, double, double, std::span<double>); \
  template void ConsistentCrossEntropyRowsGradient(Matrix<T>, Matrix<T>, std::span<const std::int32_t>, double,        \
                                                   double, double, std::span<double>)
HEADLIGHT_CROSS_ENTROPY(float);
HEADLIGHT_CROSS_ENTROPY(double);
#undef HEADLIGHT_CROSS_ENTROPY

}  // namespace headlight::kernels
#endif

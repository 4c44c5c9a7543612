#include "headlight/kernels/adam.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/adam.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void AdamChunk(const kernels::AdamStep& step, std::int64_t count, T* value, const T* gradient, T* m, T* v, T* average) {
  const hn::ScalableTag<T> d;
  const auto number = [&](double x) HWY_ATTR { return hn::Set(d, static_cast<T>(x)); };
  const double t = static_cast<double>(step.step);
  const double correction1 = 1 - std::pow(step.beta1, t), correction2 = 1 - std::pow(step.beta2, t);
  const auto scale = number(step.gradient_scale);
  const auto m_share = number(1 - step.beta1), v_share = number(1 - step.beta2), v_keep = number(step.beta2);
  const auto rate = number(step.learning_rate / correction1), keep = number(1 - step.learning_rate * step.weight_decay);
  const auto v_correction = number(1 / std::sqrt(correction2)), epsilon = number(step.epsilon);
  const auto average_share = number(1 - step.average_decay);
  ForLanes(d, count, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto g = hn::Mul(LoadLanes(d, gradient + i, lanes), scale);
    const auto old_m = LoadLanes(d, m + i, lanes);
    const auto new_m = hn::MulAdd(hn::Sub(g, old_m), m_share, old_m);
    const auto new_v = hn::MulAdd(hn::Mul(g, g), v_share, hn::Mul(LoadLanes(d, v + i, lanes), v_keep));
    const auto deviation = hn::MulAdd(hn::Sqrt(new_v), v_correction, epsilon);
    const auto kept = hn::Mul(LoadLanes(d, value + i, lanes), keep);
    const auto new_value = hn::NegMulAdd(rate, hn::Div(new_m, deviation), kept);
    StoreLanes(new_m, d, m + i, lanes);
    StoreLanes(new_v, d, v + i, lanes);
    StoreLanes(new_value, d, value + i, lanes);
    if (average) {
      const auto old = LoadLanes(d, average + i, lanes);
      StoreLanes(hn::MulAdd(hn::Sub(new_value, old), average_share, old), d, average + i, lanes);
    }
  });
}

template <typename T>
double SumOfSquaresChunk(std::int64_t count, const T* values) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> narrow;  // has as many lanes as d
  return SumOverLanes(d, count, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto loaded = LoadLanes(narrow, values + i, lanes);
    if constexpr (sizeof(T) == 4) {
      const auto value = hn::PromoteTo(d, loaded);
      return hn::Mul(value, value);
    } else {
      return hn::Mul(loaded, loaded);
    }
  });
}

HEADLIGHT_KERNEL(AdamChunk);
HEADLIGHT_KERNEL(SumOfSquaresChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(AdamChunk);
HEADLIGHT_EXPORT(SumOfSquaresChunk);

template <typename T>
void AdamUpdate(const AdamStep& step, std::span<T> value, std::span<const T> gradient, std::span<T> m, std::span<T> v,
                std::span<T> average) {
  Ensure(gradient.size() == value.size() && m.size() == value.size() && v.size() == value.size() &&
             (average.empty() || average.size() == value.size()),
         "AdamUpdate: {} values, {} gradients, {} and {} moments, {} averages", value.size(), gradient.size(), m.size(),
         v.size(), average.size());
  const Profiled profiled("Adam", 0, 7.0 * static_cast<double>(value.size_bytes()));
  const auto chunk = HEADLIGHT_DISPATCH(AdamChunk, T);
  ForRowChunks(std::ssize(value), 1, [&](std::int64_t first, std::int64_t count) {
    chunk(step, count, value.data() + first, gradient.data() + first, m.data() + first, v.data() + first,
          average.empty() ? nullptr : average.data() + first);
  });
}

template <typename T>
std::vector<double> SquareSums(std::span<const T> values) {
  static_assert(kSquareSumBlock == kElementsPerChunk);
  const Profiled profiled("gradient norm", 0, static_cast<double>(values.size_bytes()));
  const auto chunk = HEADLIGHT_DISPATCH(SumOfSquaresChunk, T);
  std::vector<double> sums(values.size() / kSquareSumBlock + 1);
  ForRowChunks(std::ssize(values), 1, [&](std::int64_t first, std::int64_t count) {
    sums[static_cast<std::size_t>(first / kSquareSumBlock)] = chunk(count, values.data() + first);
  });
  return sums;
}

template <typename T>
double SumOfSquares(std::span<const T> values) {
  const std::vector<double> sums = SquareSums(values);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

#define HEADLIGHT_ADAM(T)                                                                                 \
  template void AdamUpdate(const AdamStep&, std::span<T>, std::span<const T>, std::span<T>, std::span<T>, \
                           std::span<T>);                                                                 \
  template std::vector<double> SquareSums(std::span<const T>);                                            \
  template double SumOfSquares(std::span<const T>)
HEADLIGHT_ADAM(float);
HEADLIGHT_ADAM(double);
#undef HEADLIGHT_ADAM

}  // namespace headlight::kernels
#endif

#include "headlight/kernels/streams.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/streams.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int inputs>
float Sums(const float* const* from, std::int64_t count, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto all = hn::Zero(d);
  for (std::int64_t i = 0; i < count; i += lanes) {
    auto sum = hn::LoadU(d, from[0] + i);
#pragma GCC unroll 4
    for (int input = 1; input < inputs; ++input) sum = hn::Add(sum, hn::LoadU(d, from[input] + i));
    if (y != nullptr)
      hn::StoreU(sum, d, y + i);
    else
      all = hn::Add(all, sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, all));
}

float SumsOf(std::span<const float* const> inputs, std::int64_t first, std::int64_t count, float* y) {
  const float* from[4] = {};
  for (std::size_t i = 0; i < inputs.size(); ++i) from[i] = inputs[i] + first;
  float* const to = y == nullptr ? nullptr : y + first;
  return inputs.size() == 1   ? Sums<1>(from, count, to)
         : inputs.size() == 2 ? Sums<2>(from, count, to)
                              : Sums<4>(from, count, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight {
HWY_EXPORT(SumsOf);
}  // namespace headlight

namespace headlight::kernels {

void StreamSums(std::span<const float* const> inputs, std::int64_t count, float* y) {
  Ensure((inputs.size() == 1 || inputs.size() == 2 || inputs.size() == 4) && count % 64 == 0,
         "streams of {} inputs of {} numbers", inputs.size(), count);
  constexpr std::int64_t most = kElementsPerChunk;
  ParallelFor((count + most - 1) / most, [&](std::int64_t chunk) {
    volatile float sum =  // volatile, so that the compiler does not remove the reads
        HWY_DYNAMIC_DISPATCH(SumsOf)(inputs, chunk * most, std::min(most, count - chunk * most), y);
    static_cast<void>(sum);
  });
}

}  // namespace headlight::kernels
#endif

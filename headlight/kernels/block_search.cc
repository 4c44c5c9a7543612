#include "headlight/kernels/block_search.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/block_search.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "headlight/kernels/block_encode.h"
#include "headlight/kernels/half.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using kernels::Block, kernels::BlockLayout, kernels::BlockLimits, kernels::kBlockLevels, kernels::kMostGroups;

constexpr int kShortestGroup = 16;
using SearchLanes = hn::CappedTag<float, kShortestGroup>;

// The possible levels of an element, whose value is scale * level - min. The levels are the integers from `least` to
// `most`, or kBlockLevels if `uneven` is true.
struct Levels {
  float least, most;
  bool uneven;
};

struct Scale {
  float scale = 0, min = 0;
};

// The elements of a group and their importance; `count` is 16 or 32.
struct Group {
  const float* numbers;
  const float* importance;
  int count;
};

template <class V>
HWY_INLINE V NearestLevel(SearchLanes d, const Levels& levels, V number) {
  if (!levels.uneven) return hn::Min(hn::Max(hn::Round(number), hn::Set(d, levels.least)), hn::Set(d, levels.most));
  V level = hn::Set(d, static_cast<float>(kBlockLevels[0]));
  for (std::size_t i = 1; i < kBlockLevels.size(); ++i) {
    const auto above = static_cast<float>(kBlockLevels[i]), between = (above + kBlockLevels[i - 1]) / 2;
    level = hn::IfThenElse(hn::Gt(number, hn::Set(d, between)), hn::Set(d, above), level);
  }
  return level;
}

// Importance-weighted sums over a group. The level of a number x is the integer level nearest to (x + min) * inverse.
struct Sums {
  float level, level_squared, level_number;
};
HWY_INLINE Sums SumsOf(const Group& group, const Levels& levels, float inverse, float min) {
  const SearchLanes d;
  auto level_sum = hn::Zero(d), squares = hn::Zero(d), products = hn::Zero(d);
  const auto factor = hn::Set(d, inverse), added = hn::Set(d, min * inverse);
  for (int i = 0; i < group.count; i += static_cast<int>(hn::Lanes(d))) {
    const auto number = hn::LoadU(d, group.numbers + i), importance = hn::LoadU(d, group.importance + i);
    const auto level = NearestLevel(d, levels, hn::MulAdd(number, factor, added));
    const auto weighted = hn::Mul(importance, level);
    level_sum = hn::Add(level_sum, weighted);
    squares = hn::MulAdd(weighted, level, squares);
    products = hn::MulAdd(weighted, number, products);
  }
  return {hn::GetLane(hn::SumOfLanes(d, level_sum)), hn::GetLane(hn::SumOfLanes(d, squares)),
          hn::GetLane(hn::SumOfLanes(d, products))};
}

HWY_INLINE float LossOf(const Group& group, const Levels& levels, const Scale& with) {
  const SearchLanes d;
  auto sum = hn::Zero(d);
  const float inverse = with.scale == 0 ? 0 : 1 / with.scale;
  const auto factor = hn::Set(d, inverse), added = hn::Set(d, with.min * inverse);
  const auto scale = hn::Set(d, with.scale), min = hn::Set(d, with.min);
  for (int i = 0; i < group.count; i += static_cast<int>(hn::Lanes(d))) {
    const auto number = hn::LoadU(d, group.numbers + i), importance = hn::LoadU(d, group.importance + i);
    const auto level = NearestLevel(d, levels, hn::MulAdd(number, factor, added));
    const auto error = hn::Sub(number, hn::MulSub(scale, level, min));
    sum = hn::MulAdd(hn::Mul(importance, error), error, sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// Returns the best scale without a min. For elements x, weights w and fixed levels l, the scale is sum(w x l) / sum(w
// l^2), and reduces the loss by sum(w x l)^2 / sum(w l^2). Candidate scales map the element with the largest magnitude
// near either end of the levels.
HWY_INLINE Scale FitScale(const Group& group, const Levels& levels) {
  float extreme = 0;
  for (int i = 0; i < group.count; ++i)
    if (std::abs(group.numbers[i]) > std::abs(extreme)) extreme = group.numbers[i];
  if (extreme == 0) return {};
  constexpr int steps = 8;
  const float step = levels.uneven ? 1.5F : 0.125F;
  float best_gain = 0;
  Scale best;
  const auto consider = [&](float inverse) {
    const Sums sums = SumsOf(group, levels, inverse, 0);
    if (!(sums.level_squared > 0)) return;
    const float gain = sums.level_number * sums.level_number / sums.level_squared;
    if (gain <= best_gain) return;
    best_gain = gain;
    best.scale = sums.level_number / sums.level_squared;
  };
  for (const float end : {levels.least, levels.most})
    for (int i = -steps; i <= steps; ++i) consider((end + static_cast<float>(i) * step) / extreme);
  for (int i = 0; i < 2 && best.scale != 0; ++i) consider(1 / best.scale);
  return best;
}

// Returns the best scale and min by linear regression for fixed levels. The min is at least 0.
HWY_INLINE Scale FitScaleAndMin(const Group& group, const Levels& levels) {
  float least = 0, most = group.numbers[0], weight = 0, sum = 0;
  for (int i = 0; i < group.count; ++i) {
    least = std::min(least, group.numbers[i]);
    most = std::max(most, group.numbers[i]);
    weight += group.importance[i];
    sum += group.importance[i] * group.numbers[i];
  }
  if (most <= least) return {.scale = 0, .min = -least};
  float best_gain = -1;
  Scale best;
  const auto consider = [&](float inverse, float min) {
    const Sums sums = SumsOf(group, levels, inverse, min);
    if (!(sums.level_squared > 0)) return;
    const float determinant = weight * sums.level_squared - sums.level * sums.level;
    Scale found = {.scale = sums.level_number / sums.level_squared};
    if (determinant > 1e-6F * weight * sums.level_squared) {
      const float fitted = (sums.level * sums.level_number - sums.level_squared * sum) / determinant;
      if (fitted > 0) found = {(weight * sums.level_number - sum * sums.level) / determinant, fitted};
    }
    const float gain = found.scale * sums.level_number - found.min * sum;
    if (!(found.scale > 0) || gain <= best_gain) return;
    best_gain = gain;
    best = found;
  };
  constexpr int steps = 10;
  for (int i = -steps; i <= steps; ++i) consider((levels.most + static_cast<float>(i) * 0.1F) / (most - least), -least);
  for (int i = 0; i < 2 && best.scale > 0; ++i) consider(1 / best.scale, best.min);
  return best;
}

// The scales and minima of a block's groups as integers, and the common factors of these integers.
struct BlockScales {
  std::array<float, kMostGroups> scales{}, mins{};  // integer values
  float scale = 0, min = 0;
  double loss = 0;

  Scale Of(int group) const {
    const auto at = static_cast<std::size_t>(group);
    return {scale * scales[at], min * mins[at]};
  }
};

struct Problem {
  BlockLayout layout;
  BlockLimits limits;
  Levels levels;
  const float* numbers;
  const float* importance;
  float unit;

  int groups() const { return layout.run / layout.group; }
  Group At(int group) const {
    return {numbers + group * layout.group, importance + group * layout.group, layout.group};
  }
  // Returns the value after rounding to half precision, as stored in the file.
  float Stored(float value) const {
    const float bounded = std::clamp(value * unit, -kernels::kLargestHalf, kernels::kLargestHalf);
    return kernels::FloatOfHalf(kernels::HalfOfFloat(bounded)) / unit;
  }
};

// For each group, chooses the integers near the current integers that give the smallest loss.
void ChooseIntegers(const Problem& problem, BlockScales& block) {
  block.loss = 0;
  for (int group = 0; group < problem.groups(); ++group) {
    const auto at = static_cast<std::size_t>(group);
    const float scale = block.scales[at], min = block.mins[at];
    float best = std::numeric_limits<float>::infinity();
    for (const float more : {0.0F, -1.0F, 1.0F})
      for (const float more_min : {0.0F, -1.0F, 1.0F}) {
        const float other = scale + more, other_min = min + more_min;
        if ((more != 0 && !problem.layout.scales) || (more_min != 0 && problem.limits.most_min == 1)) continue;
        if (other < problem.limits.least_scale || other > problem.limits.most_scale) continue;
        if (other_min < 0 || other_min > problem.limits.most_min) continue;
        const float loss = LossOf(problem.At(group), problem.levels, {block.scale * other, block.min * other_min});
        if (loss >= best) continue;
        best = loss;
        block.scales[at] = other;
        block.mins[at] = other_min;
      }
    block.loss += best;
  }
}

// Computes the block's scale and min by linear regression, given its current integers and levels.
void FitFactors(const Problem& problem, BlockScales& block) {
  double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;  // a: integer of the scale times level, b: negative integer of the min
  for (int group = 0; group < problem.groups(); ++group) {
    const Scale with = block.Of(group);
    const Group of = problem.At(group);
    const Sums sums = SumsOf(of, problem.levels, with.scale == 0 ? 0 : 1 / with.scale, with.min);
    double weight = 0, sum = 0;
    for (int i = 0; i < of.count; ++i) {
      weight += double{of.importance[i]};
      sum += double{of.importance[i]} * double{of.numbers[i]};
    }
    const double scale = block.scales[static_cast<std::size_t>(group)],
                 min = block.mins[static_cast<std::size_t>(group)];
    aa += scale * scale * double{sums.level_squared};
    ab -= scale * min * double{sums.level};
    bb += min * min * weight;
    ax += scale * double{sums.level_number};
    bx -= min * sum;
  }
  if (!(aa > 0)) return;
  const double determinant = aa * bb - ab * ab;
  double scale = ax / aa, min = 0;
  if (problem.layout.mins && determinant > 1e-9 * aa * bb) {
    const double fitted = (aa * bx - ab * ax) / determinant;
    if (fitted > 0) {
      min = fitted;
      scale = (bb * ax - ab * bx) / determinant;
    }
  }
  block.scale = problem.Stored(static_cast<float>(scale));
  block.min = problem.Stored(static_cast<float>(min));
}

// Returns the integers nearest to the groups' own scales and minima. The largest scale becomes `largest_integer`.
BlockScales RoundedScales(const Problem& problem, const std::array<Scale, kMostGroups>& own, float largest_integer) {
  float largest = 0, largest_min = 0;
  for (int group = 0; group < problem.groups(); ++group) {
    const Scale& with = own[static_cast<std::size_t>(group)];
    if (std::abs(with.scale) > std::abs(largest)) largest = with.scale;
    largest_min = std::max(largest_min, with.min);
  }
  BlockScales block;
  block.scale = problem.Stored(largest / largest_integer);
  block.min = problem.Stored(largest_min / static_cast<float>(problem.limits.most_min));
  const auto integer = [](float value, float factor, int least, int most) {
    return factor == 0
               ? 0
               : std::clamp(std::nearbyint(value / factor), static_cast<float>(least), static_cast<float>(most));
  };
  for (std::size_t at = 0; at < own.size(); ++at) {
    block.scales[at] = integer(own[at].scale, block.scale, problem.limits.least_scale, problem.limits.most_scale);
    block.mins[at] = integer(own[at].min, block.min, 0, problem.limits.most_min);
  }
  return block;
}

Block SearchWithLanes(GgufType type, const float* numbers, const float* importance, float unit) {
  const BlockLayout layout = kernels::LayoutOf(type);
  const BlockLimits limits = kernels::LimitsOf(type);
  const Levels levels = {
      layout.levels ? static_cast<float>(kBlockLevels.front()) : static_cast<float>(-layout.offset),
      layout.levels ? static_cast<float>(kBlockLevels.back()) : static_cast<float>(limits.codes - 1 - layout.offset),
      layout.levels};
  const Problem problem = {layout, limits, levels, numbers, importance, unit};
  std::array<Scale, kMostGroups> own{};
  for (int group = 0; group < problem.groups(); ++group)
    own[static_cast<std::size_t>(group)] =
        layout.mins ? FitScaleAndMin(problem.At(group), levels) : FitScale(problem.At(group), levels);
  const int end = limits.least_scale < 0 ? limits.least_scale : limits.most_scale;
  BlockScales best{};  // zeros, if no candidate is better
  for (int group = 0; group < problem.groups(); ++group) best.loss += LossOf(problem.At(group), levels, {});
  constexpr int rounds = 3;
  BlockScales block = RoundedScales(problem, own, static_cast<float>(end));
  for (int round = 0; round < rounds; ++round) {
    ChooseIntegers(problem, block);
    if (block.loss >= best.loss) break;
    best = block;
    FitFactors(problem, block);
  }
  Block result;
  result.scale = kernels::HalfOfFloat(best.scale * unit);
  result.min = kernels::HalfOfFloat(best.min * unit);
  const SearchLanes d;
  for (int group = 0; group < problem.groups(); ++group) {
    const auto at = static_cast<std::size_t>(group);
    result.scales[at] = static_cast<std::int8_t>(best.scales[at]);
    result.mins[at] = static_cast<std::uint8_t>(best.mins[at]);
    const Scale with = best.Of(group);
    const float inverse = with.scale == 0 ? 0 : 1 / with.scale;
    const Group of = problem.At(group);
    for (int i = 0; i < of.count; i += static_cast<int>(hn::Lanes(d))) {
      HWY_ALIGN float chosen[kShortestGroup];
      hn::Store(
          NearestLevel(d, levels,
                       hn::MulAdd(hn::LoadU(d, of.numbers + i), hn::Set(d, inverse), hn::Set(d, with.min * inverse))),
          d, chosen);
      for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
        const int level = static_cast<int>(chosen[lane]);
        const auto code = layout.levels ? std::ranges::lower_bound(kBlockLevels, level) - kBlockLevels.begin()
                                        : level + layout.offset;
        result.codes[static_cast<std::size_t>(group * layout.group + i) + lane] = static_cast<std::uint8_t>(code);
      }
    }
  }
  return result;
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HWY_EXPORT(SearchWithLanes);

Block SearchBlock(GgufType type, const float* numbers, const float* importance, float unit) {
  return HWY_DYNAMIC_DISPATCH(SearchWithLanes)(type, numbers, importance, unit);
}

}  // namespace headlight::kernels
#endif  // HWY_ONCE

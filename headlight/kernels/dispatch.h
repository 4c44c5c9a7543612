// Macros for kernels, which are function templates over the scalar type, compiled for every instruction set. Highway
// does not dispatch templates, so these macros name their float and double instances:
//   in the target's namespace:     HEADLIGHT_KERNEL(SoftmaxChunk);
//   once, in namespace headlight:  HEADLIGHT_EXPORT(SoftmaxChunk);
//   to call it:                    HEADLIGHT_DISPATCH(SoftmaxChunk, T)(x, y);
#pragma once

#include <type_traits>

#define HEADLIGHT_KERNEL(NAME)               \
  constexpr auto& NAME##Float = NAME<float>; \
  constexpr auto& NAME##Double = NAME<double>

#define HEADLIGHT_EXPORT(NAME) \
  HWY_EXPORT(NAME##Float);     \
  HWY_EXPORT(NAME##Double)

#define HEADLIGHT_DISPATCH(NAME, T) \
  headlight::ForScalar<T>(&HWY_DYNAMIC_DISPATCH(NAME##Float), &HWY_DYNAMIC_DISPATCH(NAME##Double))

namespace headlight {

template <typename T, class Float, class Double>
constexpr auto ForScalar(Float for_float, Double for_double) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  if constexpr (std::is_same_v<T, float>) {
    return for_float;
  } else {
    return for_double;
  }
}

}  // namespace headlight

// Dropout of one row, one vector at a time. Included once per target, after hwy/highway.h.
#if defined(HEADLIGHT_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_DROPOUT_INL_H_
#undef HEADLIGHT_KERNELS_DROPOUT_INL_H_
#else
#define HEADLIGHT_KERNELS_DROPOUT_INL_H_
#endif

#include <hwy/highway.h>

#include "headlight/kernels/dropout_hash-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct RowDropout {
  RowDropout(Dropout dropout, std::int64_t row)
      : key(RowDropoutKey(dropout.seed, static_cast<std::uint64_t>(row))),
        threshold(DropoutThreshold(dropout.probability)),
        scale(1 / (1 - dropout.probability)) {}

  // Applies dropout to the elements starting at `column`: dropped elements become zero, and other elements are scaled.
  template <class D, class V>
  HWY_INLINE V Apply(D d, V v, std::int64_t column) const {
    if (threshold == 0) return v;
    const auto drops = DropoutDrops(d, key, static_cast<std::uint32_t>(column), threshold);
    return hn::IfThenZeroElse(drops, hn::Mul(v, hn::Set(d, static_cast<hn::TFromD<D>>(scale))));
  }

  DropoutKey key;
  std::uint32_t threshold;
  double scale;
};

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif

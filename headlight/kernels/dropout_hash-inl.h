// The vectorized functions of dropout_hash.h. Included once per target, after hwy/highway.h.
#if defined(HEADLIGHT_KERNELS_DROPOUT_HASH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_DROPOUT_HASH_INL_H_
#undef HEADLIGHT_KERNELS_DROPOUT_HASH_INL_H_
#else
#define HEADLIGHT_KERNELS_DROPOUT_HASH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "headlight/kernels/dropout_hash.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

// Returns DropoutBits of columns `column`, `column` + 1, ..., one per lane of the unsigned 32-bit tag `du`.
template <class DU>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<DU> DropoutBitsOf(DU du, DropoutKey key, std::uint32_t column) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Iota of 0 is a constant. Iota of a runtime number would be built in memory, lane by lane.
  const auto columns = hn::Add(hn::Iota(du, 0), hn::Set(du, column));
  auto bits = hn::Xor(columns, hn::Set(du, key.first));
  bits = hn::Mul(hn::Xor(bits, hn::ShiftRight<16>(bits)), hn::Set(du, 0x7FEB352Du));
  bits = hn::Mul(hn::Add(hn::Xor(bits, hn::ShiftRight<15>(bits)), hn::Set(du, key.second)), hn::Set(du, 0x846CA68Bu));
  return hn::Xor(bits, hn::ShiftRight<16>(bits));
}

// Returns the mask of dropped lanes for the float or double tag `d`. Lane i is column `column` + i of the row of `key`.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Mask<D> DropoutDrops(D d, DropoutKey key, std::uint32_t column,
                                                    std::uint32_t threshold) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint32_t, D> d32;  // has as many lanes as d, each half as wide if d is for double
  const auto bits = DropoutBitsOf(d32, key, column);
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::RebindMask(d, hn::Lt(bits, hn::Set(d32, threshold)));
  } else {
    return hn::RebindMask(d, hn::Lt(hn::PromoteTo(du, bits), hn::Set(du, std::uint64_t{threshold})));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif

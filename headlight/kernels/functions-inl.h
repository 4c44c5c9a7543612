// Elementary functions of vectors, accurate to a few units in the last place. NaN results in NaN. Included once per
// target, after hwy/highway.h.
#if defined(HEADLIGHT_KERNELS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_FUNCTIONS_INL_H_
#undef HEADLIGHT_KERNELS_FUNCTIONS_INL_H_
#else
#define HEADLIGHT_KERNELS_FUNCTIONS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes e^x, with limits 0 and infinity. Highway's version returns 0 or garbage for NaN and for x out of range.
template <class D, class V>
HWY_INLINE V ExpOf(D d, V x) {
  using T = hn::TFromD<D>;
  const V highest = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 88.72283 : 709.78271289338397));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V lowest = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? -104 : -746));
  const V result = hn::Exp(d, hn::Max(hn::Min(x, highest), lowest));
  const V finite = hn::IfThenElse(hn::Gt(x, highest), infinity, result);
  return hn::IfThenElse(hn::Eq(x, x), hn::IfThenZeroElse(hn::Lt(x, lowest), finite), x);
}

// Computes e^x for x <= 0, as in softmax; x may exceed 0 by a rounding error. The result is 0 below -86, NaN for NaN,
// and within 1.2 units in the last place in float. The function takes half the instructions of hn::Exp. With e^x = 2^n
// e^r, n + 127 is in the low bits of x / log(2) + 1.5 * 2^23 + 127, and a shift makes it 2^n. e^r is approximated by
// the polynomial with the smallest relative error.
template <class D, HWY_IF_LANE_SIZE(hn::TFromD<D>, 4)>
HWY_INLINE hn::Vec<D> WeightOf(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> bits;
  const auto magic = hn::Set(d, 12583039.0f);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.442695041f), magic);
  const auto n = hn::Sub(shifted, magic);
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), x);  // log(2) is split into two parts
  r = hn::NegMulAdd(n, hn::Set(d, 1.428606820e-06f), r);
  auto e = hn::MulAdd(r, hn::Set(d, 1.381446724e-03f), hn::Set(d, 8.368780836e-03f));
  e = hn::MulAdd(e, r, hn::Set(d, 4.166839272e-02f));
  e = hn::MulAdd(e, r, hn::Set(d, 1.666651964e-01f));
  e = hn::MulAdd(e, r, hn::Set(d, 4.999999404e-01f));
  e = hn::MulAdd(e, hn::Mul(r, r), hn::Add(r, hn::Set(d, 1.0f)));
  const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -86.0f)), hn::Mul(e, power));
}

template <class D, HWY_IF_LANE_SIZE(hn::TFromD<D>, 8)>
HWY_INLINE hn::Vec<D> WeightOf(D d, hn::Vec<D> x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);
}

// Computes 1 / (1 + e^-x) from e^-|x|, which costs half as much as e^x for any x.
template <class D, class V>
HWY_INLINE V SigmoidOf(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  const V e = WeightOf(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

template <class D, class V>
HWY_INLINE V TanhOf(D d, V x) {
  const V limit = hn::Set(d, hn::TFromD<D>{20});  // beyond 20, tanh is 1, also in double
  const V result = hn::Tanh(d, hn::Max(hn::Min(x, limit), hn::Neg(limit)));
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

// Computes the error function in float as x P(x^2) / Q(x^2). The polynomials are fitted for the smallest relative error
// up to 3.92. Beyond 3.92, erf rounds to 1. The error is below 3.8e-7.
template <class D, class V, HWY_IF_LANE_SIZE(hn::TFromD<D>, 4)>
HWY_INLINE V ErfOf(D d, V x) {
  const V limit = hn::Set(d, 3.92f);
  const V clamped = hn::Max(hn::Min(x, limit), hn::Neg(limit));
  const V z = hn::Mul(clamped, clamped);
  V p = hn::Set(d, 2.050086778e-06f);
  p = hn::MulAdd(p, z, hn::Set(d, 2.848822623e-04f));
  p = hn::MulAdd(p, z, hn::Set(d, 3.765604459e-03f));
  p = hn::MulAdd(p, z, hn::Set(d, 5.274868011e-02f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.904062033e-01f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.128379107e+00f));
  V q = hn::Set(d, 3.809168629e-05f);
  q = hn::MulAdd(q, z, hn::Set(d, 1.162532251e-03f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.496919058e-02f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.141089946e-01f));
  q = hn::MulAdd(q, z, hn::Set(d, 5.020758510e-01f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.0f));
  return hn::IfThenElse(hn::Eq(x, x), hn::Div(hn::Mul(clamped, p), q), x);
}

// Calls the standard library, since double is only used to check gradients.
template <class D, class V, HWY_IF_LANE_SIZE(hn::TFromD<D>, 8)>
HWY_INLINE V ErfOf(D d, V x) {
  HWY_ALIGN double lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) lanes[lane] = std::erf(lanes[lane]);
  return hn::Load(d, lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif

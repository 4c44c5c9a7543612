#include "headlight/kernels/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/activation.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <numbers>

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> Number(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

struct Identity {
  template <class D, class V>
  static HWY_INLINE V Value(D, V x) {
    return x;
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V) {
    return Number(d, 1);
  }
};

struct Relu {
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), Number(d, 1));
  }
};

struct Gelu {
  template <class D, class V>
  static HWY_INLINE V Phi(D d, V x) {
    const V erf = ErfOf(d, hn::Mul(x, Number(d, std::numbers::sqrt2 / 2)));
    return hn::MulAdd(erf, Number(d, 0.5), Number(d, 0.5));
  }
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::Mul(x, Phi(d, x));
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V density = hn::Mul(Number(d, std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2),
                              ExpOf(d, hn::Mul(hn::Mul(x, x), Number(d, -0.5))));
    return hn::MulAdd(x, density, Phi(d, x));
  }
};

struct GeluTanh {
  static constexpr double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, cubic = 0.044715;
  // Clamps x to [-20, 20], so that powers of x stay finite. tanh is 1 beyond 20.
  template <class D, class V>
  static HWY_INLINE V Bounded(D d, V x) {
    return hn::Max(hn::Min(x, Number(d, 20)), Number(d, -20));
  }
  template <class D, class V>
  static HWY_INLINE V Tangent(D d, V x) {
    const V inner = hn::MulAdd(hn::Mul(x, x), Number(d, cubic * factor), Number(d, factor));
    return TanhOf(d, hn::Mul(x, inner));
  }
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    const V half = hn::Mul(x, Number(d, 0.5));
    return hn::MulAdd(half, Tangent(d, Bounded(d, x)), half);
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V bounded = Bounded(d, x), half = Number(d, 0.5);
    const V tangent = Tangent(d, bounded);
    const V inner = hn::MulAdd(hn::Mul(bounded, bounded), Number(d, 3 * cubic * factor), Number(d, factor));
    const V rise = hn::Mul(hn::NegMulAdd(tangent, tangent, Number(d, 1)), inner);
    return hn::MulAdd(hn::Mul(x, half), rise, hn::MulAdd(tangent, half, half));
  }
};

struct Silu {
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::Mul(x, SigmoidOf(d, x));
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V sigmoid = SigmoidOf(d, x);
    return hn::MulAdd(hn::Mul(x, sigmoid), hn::Sub(Number(d, 1), sigmoid), sigmoid);
  }
};

struct QuickGelu {
  static constexpr double factor = 1.702;
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::Mul(x, SigmoidOf(d, hn::Mul(x, Number(d, factor))));
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V sigmoid = SigmoidOf(d, hn::Mul(x, Number(d, factor)));
    const V rise = hn::Mul(hn::Mul(x, sigmoid), hn::Sub(Number(d, 1), sigmoid));
    return hn::MulAdd(rise, Number(d, factor), sigmoid);
  }
};

struct HyperbolicTangent {
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return TanhOf(d, x);
  }
  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V tangent = TanhOf(d, x);
    return hn::NegMulAdd(tangent, tangent, Number(d, 1));
  }
};

// Calls body with the struct that implements the activation.
template <class Body>
HWY_INLINE void ForFunction(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::none:
      return body(Identity{});
    case Activation::relu:
      return body(Relu{});
    case Activation::gelu:
      return body(Gelu{});
    case Activation::gelu_tanh:
      return body(GeluTanh{});
    case Activation::silu:
      return body(Silu{});
    case Activation::quick_gelu:
      return body(QuickGelu{});
    case Activation::tanh:
      return body(HyperbolicTangent{});
  }
}

template <typename T>
void ActivationChunk(Activation activation, Matrix<const T> x, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  ForFunction(activation, [&](auto function) HWY_ATTR {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const T* const in = x.row(row);
      T* const out = y.row(row);
      ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
        StoreLanes(function.Value(d, LoadLanes(d, in + column, lanes)), d, out + column, lanes);
      });
    }
  });
}

template <typename T>
void ActivationGradientChunk(Activation activation, Matrix<const T> x, Matrix<const T> d_y, Matrix<T> d_x) {
  const hn::ScalableTag<T> d;
  ForFunction(activation, [&](auto function) HWY_ATTR {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const T *const in = x.row(row), *const d_out = d_y.row(row);
      T* const d_in = d_x.row(row);
      ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
        const auto slope = function.Slope(d, LoadLanes(d, in + column, lanes));
        StoreLanes(hn::Mul(slope, LoadLanes(d, d_out + column, lanes)), d, d_in + column, lanes);
      });
    }
  });
}

template <typename T>
void GatedChunk(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  ForFunction(activation, [&](auto function) HWY_ATTR {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const T *const of_gate = gate.row(row), *const of_x = x.row(row);
      T* const out = y.row(row);
      ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
        const auto open = function.Value(d, LoadLanes(d, of_gate + column, lanes));
        StoreLanes(hn::Mul(open, LoadLanes(d, of_x + column, lanes)), d, out + column, lanes);
      });
    }
  });
}

template <typename T>
void GatedGradientChunk(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<const T> d_y,
                        Matrix<T> d_gate, Matrix<T> d_x) {
  const hn::ScalableTag<T> d;
  ForFunction(activation, [&](auto function) HWY_ATTR {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const T *const of_gate = gate.row(row), *const of_x = x.row(row), *const d_out = d_y.row(row);
      T *const to_gate = d_gate.row(row), *const to_x = d_x.row(row);
      ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
        const auto at = LoadLanes(d, of_gate + column, lanes), slope = LoadLanes(d, d_out + column, lanes);
        const auto of_open = hn::Mul(slope, LoadLanes(d, of_x + column, lanes));
        StoreLanes(hn::Mul(function.Slope(d, at), of_open), d, to_gate + column, lanes);
        StoreLanes(hn::Mul(slope, function.Value(d, at)), d, to_x + column, lanes);
      });
    }
  });
}

HEADLIGHT_KERNEL(ActivationChunk);
HEADLIGHT_KERNEL(ActivationGradientChunk);
HEADLIGHT_KERNEL(GatedChunk);
HEADLIGHT_KERNEL(GatedGradientChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(ActivationChunk);
HEADLIGHT_EXPORT(ActivationGradientChunk);
HEADLIGHT_EXPORT(GatedChunk);
HEADLIGHT_EXPORT(GatedGradientChunk);

template <typename T>
void ActivationRows(Activation activation, Matrix<const T> x, Matrix<T> y) {
  const Profiled profiled("activation", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(ActivationChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(activation, x.Rows(first, rows), y.Rows(first, rows));
  });
}

template <typename T>
void Activate(Activation activation, Matrix<T> x) {
  HEADLIGHT_DISPATCH(ActivationChunk, T)(activation, x, x);
}

template <typename T>
void ActivationRowsGradient(Activation activation, Matrix<const T> x, Matrix<const T> d_y, Matrix<T> d_x) {
  const Profiled profiled("activation gradient", 0, BytesOf(x, 3));
  const auto chunk = HEADLIGHT_DISPATCH(ActivationGradientChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(activation, x.Rows(first, rows), d_y.Rows(first, rows), d_x.Rows(first, rows));
  });
}

template <typename T>
void GatedRows(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<T> y) {
  const Profiled profiled("gated activation", 0, BytesOf(x, 3));
  const auto chunk = HEADLIGHT_DISPATCH(GatedChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(activation, gate.Rows(first, rows), x.Rows(first, rows), y.Rows(first, rows));
  });
}

template <typename T>
void GatedRowsGradient(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<const T> d_y,
                       Matrix<T> d_gate, Matrix<T> d_x) {
  const Profiled profiled("gated activation gradient", 0, BytesOf(x, 5));
  const auto chunk = HEADLIGHT_DISPATCH(GatedGradientChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(activation, gate.Rows(first, rows), x.Rows(first, rows), d_y.Rows(first, rows), d_gate.Rows(first, rows),
          d_x.Rows(first, rows));
  });
}

template void ActivationRows(Activation, Matrix<const float>, Matrix<float>);
template void ActivationRows(Activation, Matrix<const double>, Matrix<double>);
template void Activate(Activation, Matrix<float>);
template void Activate(Activation, Matrix<double>);
template void ActivationRowsGradient(Activation, Matrix<const float>, Matrix<const float>, Matrix<float>);
template void ActivationRowsGradient(Activation, Matrix<const double>, Matrix<const double>, Matrix<double>);
template void GatedRows(Activation, Matrix<const float>, Matrix<const float>, Matrix<float>);
template void GatedRows(Activation, Matrix<const double>, Matrix<const double>, Matrix<double>);
template void GatedRowsGradient(Activation, Matrix<const float>, Matrix<const float>, Matrix<const float>,
                                Matrix<float>, Matrix<float>);
template void GatedRowsGradient(Activation, Matrix<const double>, Matrix<const double>, Matrix<const double>,
                                Matrix<double>, Matrix<double>);

}  // namespace headlight::kernels
#endif

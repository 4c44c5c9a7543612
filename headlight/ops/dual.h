// Dual numbers for forward-mode differentiation: a value and its partial derivatives, which are propagated through
// plain arithmetic.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace headlight {

template <typename T, std::size_t count>
struct Dual {
  T value = 0;
  std::array<T, count> slopes = {};

  Dual() = default;
  Dual(T constant) : value(constant) {}  // NOLINT(google-explicit-constructor): numbers mix with duals in formulas
  /// Returns the variable with this index.
  static Dual Variable(T value, std::size_t index) {
    Dual x(value);
    x.slopes[index] = 1;
    return x;
  }

  /// Returns f(a, b) with value `value` and partial derivatives by_a and by_b.
  static Dual Of(T value, const Dual& a, T by_a, const Dual& b, T by_b) {
    Dual y(value);
    for (std::size_t i = 0; i < count; ++i) y.slopes[i] = by_a * a.slopes[i] + by_b * b.slopes[i];
    return y;
  }
  static Dual Of(T value, const Dual& a, T by_a) {
    Dual y(value);
    for (std::size_t i = 0; i < count; ++i) y.slopes[i] = by_a * a.slopes[i];
    return y;
  }

  friend Dual operator+(const Dual& a, const Dual& b) { return Of(a.value + b.value, a, 1, b, 1); }
  friend Dual operator-(const Dual& a, const Dual& b) { return Of(a.value - b.value, a, 1, b, -1); }
  friend Dual operator*(const Dual& a, const Dual& b) { return Of(a.value * b.value, a, b.value, b, a.value); }
  friend Dual operator/(const Dual& a, const Dual& b) {
    return Of(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
  }
  friend Dual operator-(const Dual& a) { return Of(-a.value, a, -1); }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
};

template <typename T, std::size_t count>
Dual<T, count> sqrt(const Dual<T, count>& x) {
  const T root = std::sqrt(x.value);
  return Dual<T, count>::Of(root, x, 1 / (2 * root));
}

template <typename T, std::size_t count>
Dual<T, count> exp(const Dual<T, count>& x) {
  const T value = std::exp(x.value);
  return Dual<T, count>::Of(value, x, value);
}

template <typename T, std::size_t count>
Dual<T, count> log1p(const Dual<T, count>& x) {
  return Dual<T, count>::Of(std::log1p(x.value), x, 1 / (1 + x.value));
}

}  // namespace headlight

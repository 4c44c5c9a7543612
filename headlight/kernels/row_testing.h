// Utilities for tests of row kernels: shapes and instruction sets for every kernel, matrices that detect writes outside
// their rows, and derivatives by finite differences.
#pragma once

#include "headlight/kernels/targets.h"
// clang-format off: targets.h must be included before Highway.
#include <hwy/highway.h>
// clang-format on

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/matrix.h"
#include "headlight/base/random.h"

namespace headlight {

template <typename Body>
void ForEveryTarget(const Body& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

// The shape of a matrix with `padding` elements between rows, starting `offset` elements after an aligned address.
struct RowCase {
  std::int64_t rows, columns, padding = 0, offset = 0;
};

inline std::vector<RowCase> RowCases() {
  return {{1, 1},        {3, 1, 2, 1},  {2, 3},  {5, 7, 3, 1},  {4, 8},         {3, 15, 0, 1},   {2, 16},
          {3, 17, 4, 3}, {2, 63, 0, 1}, {4, 64}, {2, 65, 7, 5}, {3, 300, 0, 1}, {150, 33, 2, 1}, {400, 130}};
}

template <typename Body>
void ForEveryCase(const Body& body) {
  for (const RowCase& each : RowCases()) {
    SCOPED_TRACE(fmt::format("[{}, {}], padding {}, offset {}", each.rows, each.columns, each.padding, each.offset));
    ForEveryTarget([&] { body(each); });
  }
}

template <typename T>
class TestMatrix {
 public:
  // Fills the matrix with normally distributed values times `scale`. The values depend only on the seed.
  TestMatrix(RowCase shape, std::uint64_t seed, double scale = 1)
      : shape_(shape), elements_(static_cast<std::size_t>(shape.offset + shape.rows * stride() + 64), T{guard}) {
    Random random(seed);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column)
        view().row(row)[column] = static_cast<T>(random.Normal() * scale);
    }
  }
  ~TestMatrix() {
    std::size_t beyond = 0;
    for (const T element : elements_) beyond += element == T{guard};
    EXPECT_EQ(beyond, elements_.size() - static_cast<std::size_t>(shape_.rows * shape_.columns))
        << "something was written outside the rows, or not written inside";
  }
  TestMatrix(const TestMatrix&) = default;

  Matrix<T> view() { return {elements_.data() + shape_.offset, shape_.rows, shape_.columns, stride()}; }
  Matrix<const T> view() const { return const_cast<TestMatrix*>(this)->view(); }
  T& at(std::int64_t row, std::int64_t column) { return view().row(row)[column]; }
  T at(std::int64_t row, std::int64_t column) const { return view().row(row)[column]; }
  void Unwritten() {  // resets all elements to the unwritten state
    for (std::int64_t row = 0; row < shape_.rows; ++row) std::fill_n(view().row(row), shape_.columns, T{guard});
  }

 private:
  static constexpr int guard = -7531;
  std::int64_t stride() const { return shape_.columns + shape_.padding; }
  RowCase shape_;
  std::vector<T> elements_;
};

template <typename T>
std::vector<T> TestVector(std::int64_t count, std::uint64_t seed, double scale = 1) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(random.Normal() * scale);
  return values;
}

// Returns the tolerance for differences from plain loops in double, relative to the magnitude of the values.
template <typename T>
constexpr double Tolerance() {
  return sizeof(T) == 4 ? 3e-6 : 1e-12;
}

// Returns the derivative of f with respect to x, by central differences.
inline double Derivative(double& x, const std::function<double()>& f) {
  const double kept = x, step = 1e-5 * std::max(1.0, std::abs(x));
  x = kept + step;
  const double above = f();
  x = kept - step;
  const double below = f();
  x = kept;
  return (above - below) / (2 * step);
}

// Returns the sum of weights * y. Its gradient with respect to y is `weights`.
inline double WeightedSum(const TestMatrix<double>& weights, const TestMatrix<double>& y) {
  double sum = 0;
  for (std::int64_t row = 0; row < y.view().rows; ++row) {
    for (std::int64_t column = 0; column < y.view().columns; ++column)
      sum += weights.at(row, column) * y.at(row, column);
  }
  return sum;
}

}  // namespace headlight

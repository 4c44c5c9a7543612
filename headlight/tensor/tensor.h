// Tensor: a shape and shared storage.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

struct Node;  // defined in autograd/tape.h

/// The element type of a Tensor.
enum class DType : std::uint8_t { float32, float64, int32 };
HEADLIGHT_API std::int64_t SizeOf(DType dtype);  ///< in bytes
HEADLIGHT_API const char* Name(DType dtype);

template <typename T>
constexpr DType DTypeOf() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>);
  return std::is_same_v<T, float> ? DType::float32 : std::is_same_v<T, double> ? DType::float64 : DType::int32;
}

/// A shape has up to six axes. A scalar has no axes.
class HEADLIGHT_API Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> axes) : Shape(std::span(axes.begin(), axes.size())) {}
  explicit Shape(std::span<const std::int64_t> axes);  ///< throws Error if an axis is negative or the product overflows

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return axes_[static_cast<std::size_t>(axis)]; }
  std::int64_t last() const { return rank_ == 0 ? 1 : axes_[static_cast<std::size_t>(rank_ - 1)]; }
  std::int64_t elements() const;
  std::span<const std::int64_t> axes() const { return {axes_.data(), static_cast<std::size_t>(rank_)}; }
  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, kMaxRank> axes_{};
  int rank_ = 0;
};
HEADLIGHT_API std::string ToString(const Shape& shape);  ///< for example "[2, 3]"

/// A multidimensional array. Copies share their elements. Rows (all axes except the last, flattened) are `stride`
/// elements apart. The stride exceeds the last axis only in a view of some columns. The tape node is set only if a
/// gradient is computed.
class HEADLIGHT_API Tensor {
 public:
  Tensor() = default;
  static Tensor Empty(const Shape& shape, DType dtype = DType::float32);  ///< not initialized
  static Tensor Zeros(const Shape& shape, DType dtype = DType::float32);
  template <typename T>
  static Tensor From(std::span<const T> values, const Shape& shape);
  template <typename T>
  static Tensor From(std::initializer_list<T> values, const Shape& shape) {
    return From(std::span<const T>(values.begin(), values.size()), shape);
  }

  bool empty() const { return !defined_; }  ///< true if undefined, for example for an omitted argument
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t elements() const { return shape_.elements(); }
  std::int64_t columns() const { return shape_.last(); }
  std::int64_t rows() const { return columns() == 0 ? 0 : elements() / columns(); }
  std::int64_t stride() const { return stride_; }
  bool contiguous() const { return stride_ == columns() || rows() <= 1; }

  /// These views share the elements and have no gradient. ops/view.h has views with gradient.
  Tensor ViewColumns(std::int64_t begin, std::int64_t count) const;
  Tensor ViewRows(std::int64_t begin, std::int64_t count) const;  ///< rows along the first axis
  Tensor ViewAs(const Shape& shape) const;  ///< requires contiguous elements and the same number of elements

  template <typename T>
  T* data() const {
    Ensure(defined_ && dtype_ == DTypeOf<T>(), "a {} tensor is used as {}", Name(dtype_), Name(DTypeOf<T>()));
    return reinterpret_cast<T*>(storage_.get() + offset_);
  }
  template <typename T>
  Matrix<T> matrix() const {
    return {data<T>(), rows(), columns(), stride_};
  }
  template <typename T>
  std::span<T> span() const {  ///< elements must be contiguous
    Ensure(contiguous(), "a view of columns is used as a contiguous tensor");
    return {data<T>(), static_cast<std::size_t>(elements())};
  }
  template <typename T>
  std::vector<T> ToVector() const;  ///< elements in row-major order
  Tensor Clone() const;             ///< contiguous copy of the values, without gradient
  void CopyFrom(const Tensor& other) const;
  void Fill(double value) const;

  bool SharesStorage() const { return storage_.use_count() > 1; }

  Node* node() const { return node_; }
  Tensor WithNode(Node* node) const;
  Tensor Detached() const { return WithNode(nullptr); }

 private:
  std::shared_ptr<std::byte> storage_;
  std::int64_t offset_ = 0;  // in bytes
  std::int64_t stride_ = 1;  // in elements
  Shape shape_;
  DType dtype_ = DType::float32;
  bool defined_ = false;
  Node* node_ = nullptr;
};

template <typename T>
Tensor Tensor::From(std::span<const T> values, const Shape& shape) {
  Check(static_cast<std::int64_t>(values.size()) == shape.elements(), "Tensor::From: {} values do not fill shape {}",
        values.size(), ToString(shape));
  Tensor tensor = Empty(shape, DTypeOf<T>());
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

template <typename T>
std::vector<T> Tensor::ToVector() const {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(elements()));
  const Matrix<T> view = matrix<T>();
  for (std::int64_t row = 0; row < view.rows; ++row)
    values.insert(values.end(), view.row(row), view.row(row) + view.columns);
  return values;
}

/// Calls body with a T{} of the tensor's floating-point type: Dispatch(x.dtype(), [&]<typename T>(T) { ... }).
template <typename Body>
void Dispatch(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::float32:
      return body(float{});
    case DType::float64:
      return body(double{});
    case DType::int32:
      break;
  }
  Fail("expected a floating-point tensor, got {}", Name(dtype));
}

}  // namespace headlight

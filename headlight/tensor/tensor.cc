#include "headlight/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headlight/base/parallel.h"
#include "headlight/base/storage.h"

namespace headlight {

std::int64_t SizeOf(DType dtype) { return dtype == DType::float64 ? 8 : 4; }

const char* Name(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::int32:
      return "int32";
  }
  return "unknown";
}

Shape::Shape(std::span<const std::int64_t> axes) : rank_(static_cast<int>(axes.size())) {
  Check(axes.size() <= kMaxRank, "a shape has at most {} axes, not {}", kMaxRank, axes.size());
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    Check(axes[axis] >= 0, "a shape's axis {} cannot be {}", axis, axes[axis]);
    Check(!__builtin_mul_overflow(elements, axes[axis], &elements), "a shape's size overflows at axis {}", axis);
    axes_[axis] = axes[axis];
  }
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes()) product *= axis;
  return product;
}

std::string ToString(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.axes(), ", ")); }

Tensor Tensor::Empty(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  Check(!__builtin_mul_overflow(shape.elements(), SizeOf(dtype), &bytes), "a tensor of shape {} is too large",
        ToString(shape));
  Tensor tensor;
  tensor.storage_ = AllocateStorage(bytes);
  tensor.shape_ = shape;
  tensor.stride_ = shape.last();
  tensor.dtype_ = dtype;
  tensor.defined_ = true;
  return tensor;
}

Tensor Tensor::Zeros(const Shape& shape, DType dtype) {
  Tensor tensor = Empty(shape, dtype);
  tensor.Fill(0);
  return tensor;
}

Tensor Tensor::ViewColumns(std::int64_t begin, std::int64_t count) const {
  Check(shape_.rank() >= 1 && begin >= 0 && count >= 0 && begin + count <= columns(),
        "columns {} to {} of shape {} do not exist", begin, begin + count, ToString(shape_));
  Tensor view = Detached();
  std::array<std::int64_t, Shape::kMaxRank> axes{};
  std::ranges::copy(shape_.axes(), axes.begin());
  axes[static_cast<std::size_t>(shape_.rank() - 1)] = count;
  view.shape_ = Shape(std::span<const std::int64_t>(axes.data(), static_cast<std::size_t>(shape_.rank())));
  if (storage_ != nullptr) view.offset_ += begin * SizeOf(dtype_);
  return view;
}

Tensor Tensor::ViewRows(std::int64_t begin, std::int64_t count) const {
  Check(shape_.rank() >= 1 && begin >= 0 && count >= 0 && begin + count <= shape_[0],
        "rows {} to {} of shape {} do not exist", begin, begin + count, ToString(shape_));
  if (shape_.rank() == 1) {
    Tensor view = ViewColumns(begin, count);
    view.stride_ = count;
    return view;
  }
  Tensor view = Detached();
  std::array<std::int64_t, Shape::kMaxRank> axes{};
  std::ranges::copy(shape_.axes(), axes.begin());
  axes[0] = count;
  view.shape_ = Shape(std::span<const std::int64_t>(axes.data(), static_cast<std::size_t>(shape_.rank())));
  if (storage_ != nullptr && shape_[0] > 0) view.offset_ += begin * (rows() / shape_[0]) * stride_ * SizeOf(dtype_);
  return view;
}

Tensor Tensor::ViewAs(const Shape& shape) const {
  Check(shape.elements() == elements() && contiguous(), "shape {} cannot be viewed as {}", ToString(shape_),
        ToString(shape));
  Tensor view = Detached();
  view.shape_ = shape;
  view.stride_ = shape.last();
  return view;
}

Tensor Tensor::Clone() const {
  Tensor copy = Empty(shape_, dtype_);
  copy.CopyFrom(*this);
  return copy;
}

void Tensor::CopyFrom(const Tensor& other) const {
  Check(shape_ == other.shape_ && dtype_ == other.dtype_, "{} of shape {} cannot be copied into {} of shape {}",
        Name(other.dtype_), ToString(other.shape_), Name(dtype_), ToString(shape_));
  if (elements() == 0) return;
  const std::int64_t size = SizeOf(dtype_), width = columns() * size;
  std::byte* to = storage_.get() + offset_;
  const std::byte* from = other.storage_.get() + other.offset_;
  if (contiguous() && other.contiguous()) {
    std::memmove(to, from, static_cast<std::size_t>(rows() * width));
    return;
  }
  for (std::int64_t row = 0; row < rows(); ++row)
    std::memcpy(to + row * stride_ * size, from + row * other.stride_ * size, static_cast<std::size_t>(width));
}

void Tensor::Fill(double value) const {
  if (elements() == 0) return;
  const auto fill = [&]<typename T>(T) {
    const Matrix<T> view = matrix<T>();
    if (contiguous()) {
      constexpr std::int64_t block = 1 << 18;  // number of elements that amortizes waking a thread
      ParallelFor((elements() + block - 1) / block, [&](std::int64_t index) {
        std::fill_n(view.data + index * block, std::min(block, elements() - index * block), static_cast<T>(value));
      });
      return;
    }
    for (std::int64_t row = 0; row < view.rows; ++row)
      std::fill(view.row(row), view.row(row) + view.columns, static_cast<T>(value));
  };
  if (dtype_ == DType::int32)
    fill(std::int32_t{});
  else
    Dispatch(dtype_, fill);
}

Tensor Tensor::WithNode(Node* node) const {
  Tensor tensor = *this;
  tensor.node_ = node;
  return tensor;
}

}  // namespace headlight

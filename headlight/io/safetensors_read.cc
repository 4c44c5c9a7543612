// Converts tensors from the types in files to compute types.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/io/safetensors.h"
#include "headlight/kernels/blocks.h"
#include "headlight/kernels/half.h"

namespace headlight {
namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

float Widen(Half half) { return kernels::FloatOfHalf(half.bits); }
// Converts bfloat16, which is the upper half of a float.
float Widen(BFloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }
template <typename T>
T Widen(T value) {
  return value;
}

// Converts elements one by one, since elements in files can be unaligned. `fits` returns true if `To` can represent a
// value.
template <typename From, typename To, typename Fits>
void Convert(const StoredTensor& stored, To* to, Fits fits, const std::string& path) {
  for (std::size_t index = 0; index < stored.bytes.size() / sizeof(From); ++index) {
    From element;
    std::memcpy(&element, stored.bytes.data() + index * sizeof(From), sizeof(From));
    const auto value = Widen(element);
    if (!fits(value))  // not Check, which would format the name for every element
      Fail("{}: tensor {}: element {} is {}, too large for {}", path, Quoted(stored.name), index, value,
           Name(DTypeOf<To>()));
    to[index] = static_cast<To>(value);
  }
}

[[noreturn]] void RefuseType(const StoredTensor& stored, DType dtype, const std::string& path) {
  Fail("{}: tensor {}: holds {}, which cannot be read as {}", path, Quoted(stored.name), Name(stored.type),
       Name(dtype));
}

template <typename To>
void ReadBlocks(const StoredTensor& stored, To* to) {
  const std::int64_t columns = stored.shape.rank() == 0 ? 1 : stored.shape[stored.shape.rank() - 1];
  const std::int64_t rows = columns == 0 ? 0 : stored.shape.elements() / columns;
  const auto row_bytes = std::ssize(stored.bytes) / std::max<std::int64_t>(1, rows);
  ParallelFor(rows, [&](std::int64_t row) {
    std::vector<float> numbers(static_cast<std::size_t>(columns));
    kernels::Dequantize(stored.block, stored.bytes.data() + row * row_bytes, columns, numbers.data());
    std::ranges::copy(numbers, to + row * columns);
  });
}

template <typename To>
void ReadFloating(const StoredTensor& stored, To* to, const std::string& path) {
  const auto any = [](auto) { return true; };
  const auto finite = [](double value) { return !std::isfinite(value) || std::isfinite(static_cast<To>(value)); };
  switch (stored.type) {
    case StoredType::f16:
      return Convert<Half>(stored, to, any, path);
    case StoredType::bf16:
      return Convert<BFloat16>(stored, to, any, path);
    case StoredType::f32:
      return Convert<float>(stored, to, any, path);
    case StoredType::f64:
      return Convert<double>(stored, to, finite, path);
    case StoredType::block:
      return ReadBlocks(stored, to);
    default:
      RefuseType(stored, DTypeOf<To>(), path);
  }
}

void ReadIntegers(const StoredTensor& stored, std::int32_t* to, const std::string& path) {
  const auto any = [](auto) { return true; };
  const auto in_range = [](std::int64_t value) { return std::in_range<std::int32_t>(value); };
  switch (stored.type) {
    case StoredType::boolean:
    case StoredType::u8:
      return Convert<std::uint8_t>(stored, to, any, path);
    case StoredType::i8:
      return Convert<std::int8_t>(stored, to, any, path);
    case StoredType::i16:
      return Convert<std::int16_t>(stored, to, any, path);
    case StoredType::i32:
      return Convert<std::int32_t>(stored, to, any, path);
    case StoredType::i64:
      return Convert<std::int64_t>(stored, to, in_range, path);
    default:
      RefuseType(stored, DType::int32, path);
  }
}

}  // namespace

Tensor Safetensors::ReadRows(std::string_view name, std::int64_t first, std::int64_t count, DType dtype) const {
  StoredTensor rows = At(name);
  std::vector<std::int64_t> axes(rows.shape.axes().begin(), rows.shape.axes().end());
  Ensure(!axes.empty() && first >= 0 && count >= 0 && count <= axes[0] - first, "rows {} to {} of a tensor of shape {}",
         first, first + count, ToString(rows.shape));
  const std::size_t row_bytes = axes[0] == 0 ? 0 : rows.bytes.size() / static_cast<std::size_t>(axes[0]);
  std::vector<std::byte> ordered;
  if (rows.source_row) {
    for (std::int64_t row = first; row < first + count; ++row) {
      const std::span<const std::byte> bytes = rows.Row(row);
      ordered.insert(ordered.end(), bytes.begin(), bytes.end());
    }
    rows.bytes = ordered;
  } else {
    rows.bytes =
        rows.bytes.subspan(static_cast<std::size_t>(first) * row_bytes, static_cast<std::size_t>(count) * row_bytes);
  }
  axes[0] = count;
  rows.shape = Shape(axes);
  return Read(rows, dtype);
}

Tensor Safetensors::Read(std::string_view name, DType dtype) const {
  const StoredTensor& stored = At(name);
  return stored.source_row ? ReadRows(name, 0, stored.shape[0], dtype) : Read(stored, dtype);
}

Tensor Safetensors::Read(const StoredTensor& stored, DType dtype) const {
  Tensor tensor = Tensor::Empty(stored.shape, dtype);
  if (dtype == DType::int32) {
    ReadIntegers(stored, tensor.data<std::int32_t>(), PathOf(stored));
  } else {
    Dispatch(dtype, [&]<typename T>(T) { ReadFloating(stored, tensor.data<T>(), PathOf(stored)); });
  }
  return tensor;
}

}  // namespace headlight

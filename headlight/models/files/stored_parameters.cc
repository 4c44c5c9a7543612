#include "headlight/models/files/stored_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/storage.h"
#include "headlight/kernels/int4.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/panels.h"

namespace headlight {
namespace {

// Returns the shape of the slice of a parameter that is stored under names[index].
Shape PartShape(const Parameter& parameter, std::size_t index) {
  if (parameter.names.size() == 1) return parameter.shape;  // the shape may have no axes
  std::vector<std::int64_t> axes(parameter.shape.axes().begin(), parameter.shape.axes().end());
  axes[0] = parameter.PartRows(index);
  return Shape(axes);
}

Shape StoredShape(const Parameter& parameter, std::size_t index) {
  const Shape part = PartShape(parameter, index);
  if (parameter.storage.channels_last) return {part[0], part[3], part[1], part[2]};
  return parameter.storage.transposed ? Shape{part[1], part[0]} : part;
}

// Transposes in square tiles. The rows of a tile stay in the cache.
template <typename T>
void Transpose(Matrix<const T> from, Matrix<T> to) {
  constexpr std::int64_t side = 32;
  for (std::int64_t top = 0; top < from.rows; top += side)
    for (std::int64_t left = 0; left < from.columns; left += side)
      for (std::int64_t row = top; row < std::min(top + side, from.rows); ++row)
        for (std::int64_t column = left; column < std::min(left + side, from.columns); ++column)
          to.row(column)[row] = from.row(row)[column];
}

// Returns true if the order of the elements on disk differs from the order in memory.
bool Reordered(const Parameter& parameter) { return parameter.storage.transposed || parameter.storage.channels_last; }

// Copies a slice from the order on disk to the order in memory. The slice is one transposed matrix or, for each output
// of a convolution, the transposed [inputs, taps].
template <typename T>
void ReadInOrder(const Parameter& parameter, std::size_t index, const T* stored, T* to) {
  const Shape part = PartShape(parameter, index);
  if (parameter.storage.transposed)
    return Transpose<T>({stored, part[1], part[0], part[0]}, {to, part[0], part[1], part[1]});
  const std::int64_t taps = part[1] * part[2], inputs = part[3];
  for (std::int64_t output = 0; output < part[0]; ++output, stored += taps * inputs, to += taps * inputs)
    Transpose<T>({stored, inputs, taps, taps}, {to, taps, inputs, inputs});
}

// Copies a slice from the order in memory to the order on disk, the inverse of ReadInOrder.
template <typename T>
void WriteInOrder(const Parameter& parameter, std::size_t index, const T* from, T* stored) {
  const Shape part = PartShape(parameter, index);
  if (parameter.storage.transposed)
    return Transpose<T>({from, part[0], part[1], part[1]}, {stored, part[1], part[0], part[0]});
  const std::int64_t taps = part[1] * part[2], inputs = part[3];
  for (std::int64_t output = 0; output < part[0]; ++output, stored += taps * inputs, from += taps * inputs)
    Transpose<T>({from, taps, inputs, inputs}, {stored, inputs, taps, taps});
}

Tensor Part(const Parameter& parameter, const Tensor& value, std::size_t index) {
  if (parameter.names.size() == 1) return value;
  return value.ViewRows(parameter.FirstRow(index), parameter.PartRows(index));
}

// Joins at most eight names, so that an error message fits on one line.
std::string List(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most, ", "), names.size() - most);
}

std::string ScaleName(const std::string& name) { return name + "_scale"; }
std::string GroupScaleName(const std::string& name) { return name + "_group_scale"; }

// Returns the stored type of a parameter, i.e. the type of its first tensor.
Compute StoredAs(const Parameter& parameter, const Safetensors& file) {
  const StoredType type = file.At(parameter.names.front()).type;
  if (!parameter.role.in_products && !parameter.role.looked_up) return Compute::float32;
  if (type == StoredType::i8) return Compute::int8;
  return type == StoredType::u8 ? Compute::int4 : Compute::float32;
}

const StoredTensor& AtOfType(const Safetensors& file, const std::string& name, StoredType type,
                             const std::string& first) {
  const StoredTensor& stored = file.At(name);
  Check(stored.type == type, "{}: tensor {} is {}, but {} of the same matrix is {}", file.path(), name,
        Name(stored.type), first, Name(type));
  return stored;
}

void AddScales(const std::string& name, const Safetensors& file, std::vector<float>& to) {
  const Tensor scales = file.Read(ScaleName(name));
  for (const float scale : scales.span<float>())
    Check(scale >= 0 && scale <= std::numeric_limits<float>::max(), "{}: tensor {} holds {}, which is no scale",
          file.path(), ScaleName(name), scale);
  to.insert(to.end(), scales.span<float>().begin(), scales.span<float>().end());
}

// A quantized parameter: [outputs, inputs] integers, in the file or in `copy`, and a scale per output.
struct Quantized {
  Matrix<const std::int8_t> values;
  std::vector<float> scales;
  std::vector<std::int8_t> copy;
};

Quantized ReadQuantized(const Parameter& parameter, const Safetensors& file) {
  Quantized quantized;
  for (std::size_t index = 0; index < parameter.names.size(); ++index) {
    const std::string& name = parameter.names[index];
    const StoredTensor& stored = AtOfType(file, name, StoredType::i8, parameter.names.front());
    AddScales(name, file, quantized.scales);
    const auto* bytes = reinterpret_cast<const std::int8_t*>(stored.bytes.data());
    if (parameter.names.size() > 1 || Reordered(parameter))
      quantized.copy.insert(quantized.copy.end(), bytes, bytes + stored.bytes.size());
    if (Reordered(parameter))
      ReadInOrder<std::int8_t>(parameter, index, bytes,
                               quantized.copy.data() + quantized.copy.size() - stored.bytes.size());
    quantized.values.data = bytes;
  }
  if (!quantized.copy.empty()) quantized.values.data = quantized.copy.data();
  const Shape matrix = parameter.matrix_shape();
  quantized.values.rows = matrix[0];
  quantized.values.columns = quantized.values.stride = matrix[1];
  return quantized;
}

// A 4-bit parameter with its rows in order, in the format of kernels::QuantizeInt4.
struct QuantizedInt4 {
  std::vector<std::uint8_t> codes;
  std::vector<std::int8_t> group_scales;
  std::vector<float> scales;
};

QuantizedInt4 ReadQuantizedInt4(const Parameter& parameter, const Safetensors& file) {
  QuantizedInt4 quantized;
  for (const std::string& name : parameter.names) {
    const StoredTensor& codes = AtOfType(file, name, StoredType::u8, parameter.names.front());
    const StoredTensor& scales = AtOfType(file, GroupScaleName(name), StoredType::i8, GroupScaleName(name));
    const auto* of_groups = reinterpret_cast<const std::int8_t*>(scales.bytes.data());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.bytes.data());
    quantized.codes.insert(quantized.codes.end(), bytes, bytes + codes.bytes.size());
    quantized.group_scales.insert(quantized.group_scales.end(), of_groups, of_groups + scales.bytes.size());
    AddScales(name, file, quantized.scales);
  }
  return quantized;
}

void ReadInto(const Parameter& parameter, const Safetensors& file, const Tensor& whole) {
  const Compute stored_as = StoredAs(parameter, file);
  if (stored_as == Compute::float32) {
    for (std::size_t index = 0; index < parameter.names.size(); ++index) {
      const Tensor stored = file.Read(parameter.names[index], whole.dtype());
      const Tensor part = Part(parameter, whole, index);
      if (Reordered(parameter))
        Dispatch(part.dtype(),
                 [&]<typename T>(T) { ReadInOrder<T>(parameter, index, stored.data<T>(), part.data<T>()); });
      else
        part.CopyFrom(stored);
    }
    return;
  }
  const Tensor value = whole.ViewAs(parameter.matrix_shape());
  if (stored_as == Compute::int4) {
    const QuantizedInt4 quantized = ReadQuantizedInt4(parameter, file);
    const std::int64_t depth = value.columns(), groups = kernels::Int4Groups(depth);
    std::vector<float> numbers(static_cast<std::size_t>(depth));
    for (std::int64_t row = 0; row < value.rows(); ++row) {
      kernels::DequantizeInt4(quantized.codes.data() + row * groups * kernels::kInt4GroupBytes,
                              quantized.group_scales.data() + row * groups,
                              quantized.scales[static_cast<std::size_t>(row)], depth, numbers.data());
      Dispatch(value.dtype(), [&]<typename T>(T) { std::ranges::copy(numbers, value.matrix<T>().row(row)); });
    }
    return;
  }
  const Quantized quantized = ReadQuantized(parameter, file);
  Dispatch(value.dtype(), [&]<typename T>(T) {
    for (std::int64_t row = 0; row < value.rows(); ++row)
      for (std::int64_t column = 0; column < value.columns(); ++column)
        value.matrix<T>().row(row)[column] = static_cast<T>(quantized.scales[static_cast<std::size_t>(row)]) *
                                             static_cast<T>(quantized.values.row(row)[column]);
  });
}

// Returns the block type of each panel of a parameter. Returns nothing if the product cannot be computed in blocks: the
// tensors have no block types, or a panel has two types.
std::vector<GgufType> PanelTypes(const Parameter& parameter, const Safetensors& file) {
  constexpr std::int64_t side = kernels::kPanelColumns;
  if (parameter.role.exact || Reordered(parameter) || parameter.role.folded.gain != nullptr) return {};
  if (!parameter.role.in_products && !parameter.role.looked_up) return {};
  const std::int64_t panels = (parameter.matrix_shape()[0] + side - 1) / side;
  std::vector<GgufType> types(static_cast<std::size_t>(panels), GgufType::f32);
  for (std::size_t index = 0; index < parameter.names.size(); ++index) {
    const StoredTensor& stored = file.At(parameter.names[index]);
    if (stored.type != StoredType::block) return {};
    const std::int64_t begin = parameter.FirstRow(index), end = begin + parameter.PartRows(index);
    for (std::int64_t panel = begin / side; panel * side < end; ++panel) {
      GgufType& type = types[static_cast<std::size_t>(panel)];
      if (type != GgufType::f32 && type != stored.block) return {};
      type = stored.block;
    }
  }
  return types;
}

// Matrices are packed in slices of this number of rows. The file's pages are released after each slice. Therefore the
// whole file and the packed form are never in memory together.
constexpr std::int64_t kSliceRows = 4096;
static_assert(kSliceRows % kernels::kPanelColumns == 0);

// Splits rows [begin, end) of the matrix by the tensors that contain them. Calls body(index of the name, first row
// within the tensor, number of rows, first row relative to `begin`).
template <class Body>
void ForTensors(const Parameter& parameter, std::int64_t begin, std::int64_t end, const Body& body) {
  for (std::size_t index = 0; index < parameter.names.size(); ++index) {
    const std::int64_t its_begin = parameter.FirstRow(index), its_end = its_begin + parameter.PartRows(index);
    const std::int64_t first = std::max(begin, its_begin), last = std::min(end, its_end);
    if (first < last) body(index, first - its_begin, last - first, first - begin);
  }
}

// Calls pack(begin, end) for slices of the matrix's rows.
template <class Pack>
void ForSlices(const Parameter& parameter, const Safetensors& file, const Pack& pack) {
  const std::int64_t all = parameter.matrix_shape()[0];
  for (std::int64_t begin = 0, end; begin < all; begin = end) {
    end = std::min(all, begin + kSliceRows);
    pack(begin, end);
    ForTensors(parameter, begin, end, [&](std::size_t index, std::int64_t first, std::int64_t rows, std::int64_t) {
      const StoredTensor& stored = file.At(parameter.names[index]);
      const auto row_bytes = stored.bytes.size() / static_cast<std::size_t>(parameter.PartRows(index));
      ReleasePages(stored.bytes.subspan(static_cast<std::size_t>(first) * row_bytes,
                                        static_cast<std::size_t>(rows) * row_bytes));
    });
  }
}

// Packs a matrix that is stored in a float type, without a float32 copy of the whole matrix.
void PackFloats(const Parameter& parameter, const Safetensors& file, kernels::PackedMatrix<float>& packed) {
  const std::vector<float> factors = parameter.Factors();
  constexpr std::int64_t side = kernels::kPanelColumns;
  ForSlices(parameter, file, [&](std::int64_t begin, std::int64_t end) {
    ParallelFor((end - begin + side - 1) / side, [&](std::int64_t panel) {
      const std::int64_t from = begin + panel * side, to = std::min(end, from + side);
      const Tensor rows = Tensor::Empty({to - from, parameter.matrix_shape()[1]}, DType::float32);
      ForTensors(parameter, from, to,
                 [&](std::size_t index, std::int64_t first, std::int64_t count, std::int64_t position) {
                   const Tensor part = file.ReadRows(parameter.names[index], first, count);
                   rows.ViewRows(position, count).CopyFrom(part.ViewAs({count, rows.columns()}));
                 });
      packed.Columns(from, to - from)
          .Pack(rows.matrix<float>(), /*transposed=*/true, factors.empty() ? nullptr : factors.data() + from);
    });
  });
}

kernels::PackedMatrix<float> PackBlocks(const Parameter& parameter, const Safetensors& file,
                                        std::span<const GgufType> types) {
  std::vector<const std::byte*> columns;
  for (std::size_t index = 0; index < parameter.names.size(); ++index) {
    const StoredTensor& stored = file.At(parameter.names[index]);
    for (std::int64_t row = 0; row < parameter.PartRows(index); ++row) columns.push_back(stored.Row(row).data());
  }
  kernels::PackedMatrix<float> packed(parameter.matrix_shape()[1], std::ssize(columns), types);
  ForSlices(parameter, file, [&](std::int64_t begin, std::int64_t end) {
    packed.Columns(begin, end - begin)
        .PackBlocks(std::span(columns).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  });
  return packed;
}

// Returns the compute type of a parameter if the model computes in the stored types.
Compute StoredPrecision(const Parameter& parameter, const Safetensors& file) {
  const auto is_bfloat16 = [&](const std::string& name) { return file.At(name).type == StoredType::bf16; };
  const bool rounded = parameter.role.in_products && !parameter.role.exact &&
                       std::ranges::all_of(parameter.names, is_bfloat16) && kernels::CpuHas(Compute::bfloat16);
  return rounded ? Compute::bfloat16 : Compute::float32;
}

// Returns true if the packed form has exactly the file's values. Rows can then be looked up in the packed form.
bool IsExactIn(Compute type, const Parameter& parameter, const Safetensors& file) {
  return type == Compute::bfloat16 && std::ranges::all_of(parameter.names, [&](const std::string& name) {
           return file.At(name).type == StoredType::bf16;
         });
}

// Loads the packed form. Loads the plain values only if they are also needed.
void LoadForComputing(Parameter& parameter, const Safetensors& file, bool with_draft) {
  if (parameter.compute == Compute::blocks) {
    if (const std::vector<GgufType> types = PanelTypes(parameter, file); !types.empty()) {
      parameter.packed = PackBlocks(parameter, file, types);
      return;
    }
    parameter.compute = StoredPrecision(parameter, file);
  }
  const Compute stored_as = StoredAs(parameter, file);
  const Compute type = TypeFor(parameter, parameter.compute);
  const Shape matrix = parameter.matrix_shape();
  const bool keeps_values = parameter.role.looked_up && !IsQuantized(type) && !IsExactIn(type, parameter, file);
  if (parameter.role.in_products && !keeps_values && stored_as == Compute::float32 && !Reordered(parameter) &&
      !parameter.role.winograd) {
    parameter.packed = kernels::PackedMatrix<float>(matrix[1], matrix[0], type);
    PackFloats(parameter, file, parameter.packed);
    if (with_draft) {
      parameter.draft = kernels::PackedMatrix<float>(matrix[1], matrix[0], TypeFor(parameter, Compute::int8));
      PackFloats(parameter, file, parameter.draft);
    }
    return;
  }
  if (!IsQuantized(stored_as) || type != stored_as) {
    parameter.value = Tensor::Empty(parameter.shape, DType::float32);
    ReadInto(parameter, file, parameter.value);
  }
  if (!parameter.role.in_products && !IsQuantized(type)) return;
  const std::vector<float> factors = parameter.Factors();
  const auto multiply = [&](std::vector<float>& scales) {
    for (std::size_t i = 0; i < factors.size(); ++i) scales[i] *= factors[i];
  };
  if (parameter.value.empty()) parameter.packed = kernels::PackedMatrix<float>(matrix[1], matrix[0], type);
  if (parameter.value.empty() && stored_as == Compute::int4) {
    QuantizedInt4 quantized = ReadQuantizedInt4(parameter, file);
    multiply(quantized.scales);
    parameter.packed.PackQuantized(quantized.codes.data(), quantized.group_scales.data(), quantized.scales.data());
  } else if (parameter.value.empty()) {
    Quantized quantized = ReadQuantized(parameter, file);
    multiply(quantized.scales);
    parameter.packed.PackQuantized(quantized.values, quantized.scales.data());
  } else {
    parameter.Pack(type);
    if (with_draft) {
      parameter.draft = kernels::PackedMatrix<float>(matrix[1], matrix[0], TypeFor(parameter, Compute::int8));
      parameter.draft.Pack(parameter.value.ViewAs(matrix).matrix<float>(), /*transposed=*/true);
    }
    // int8 and int4 tables are looked up in the packed form.
    if (!parameter.role.looked_up || IsQuantized(type)) parameter.value = {};
  }
}

}  // namespace

void LoadParameters(Parameters& parameters, const Safetensors& file,
                    const std::function<bool(std::string_view)>& harmless, LoadFor purpose) {
  const std::string& path = file.path();
  parameters.SetSource(path);
  std::set<std::string, std::less<>> known;
  std::vector<std::string> missing, unknown, misshapen;
  const auto expect = [&](const std::string& name, const Shape& shape) {
    known.insert(name);
    if (!file.contains(name))
      missing.push_back(name);
    else if (file.At(name).shape != shape)
      misshapen.push_back(fmt::format("{} has {} instead of {}", name, ToString(file.At(name).shape), ToString(shape)));
  };
  for (const Parameter& parameter : parameters.all()) {
    for (std::size_t index = 0; index < parameter.names.size(); ++index) {
      const std::string& name = parameter.names[index];
      const bool quantizes = parameter.role.in_products || parameter.role.looked_up;
      const StoredType type = quantizes && file.contains(name) ? file.At(name).type : StoredType::f32;
      const Shape part = PartShape(parameter, index);
      if (type == StoredType::u8) {  // 4-bit values
        const std::int64_t groups = kernels::Int4Groups(parameter.matrix_shape()[1]);
        expect(name, {part[0], groups * kernels::kInt4GroupBytes});
        expect(GroupScaleName(name), {part[0], groups});
      } else {
        expect(name, StoredShape(parameter, index));
      }
      if (type == StoredType::u8 || type == StoredType::i8) expect(ScaleName(name), {part[0]});
    }
  }
  for (const auto& [name, tensor] : file.tensors())
    if (!known.contains(name) && !harmless(name)) unknown.push_back(name);
  Check(missing.empty(), "{}: tensors that this model needs are missing: {}", path, List(missing));
  Check(unknown.empty(), "{}: tensors that this model does not have: {}", path, List(unknown));
  Check(misshapen.empty(), "{}: tensors have other shapes than the configuration asks for: {}", path, List(misshapen));

  // Memory is allocated after the checks, so that a file with wrong sizes does not cause a large allocation.
  if (purpose != LoadFor::everything) {
    for (const bool in_products : {false, true})  // parameters that are folded into others come first
      for (Parameter& parameter : parameters.all())
        if (parameter.role.in_products == in_products)
          LoadForComputing(parameter, file, purpose == LoadFor::computing_with_draft);
    return ReleaseUnusedStorage();
  }
  parameters.Allocate();
  for (const Parameter& parameter : parameters.all()) ReadInto(parameter, file, parameter.value);
  parameters.Pack();
}

Compute TypeFor(const Parameter& parameter, Compute compute) {
  if (parameter.role.exact) return Compute::float32;
  if (parameter.role.in_products || !IsQuantized(compute)) return compute;
  return parameter.role.looked_up ? Compute::int8 : Compute::float32;
}

void SaveParameters(const Parameters& parameters, const std::string& path, std::vector<StoredTensor> more,
                    Compute compute) {
  std::deque<std::vector<std::int8_t>> quantized;  // kept until the file is written
  std::deque<std::vector<std::uint8_t>> all_codes;
  std::deque<Tensor> kept;
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.storage.saved) continue;
    Ensure(!parameter.value.empty(), "{} is saved from a model that was loaded only to compute",
           parameter.names.front());
    const Compute type = TypeFor(parameter, compute);
    for (std::size_t index = 0; index < parameter.names.size(); ++index) {
      const std::string& name = parameter.names[index];
      Tensor part = Part(parameter, parameter.value, index);
      if (!IsQuantized(type)) {
        if (Reordered(parameter)) {
          const Tensor& stored = kept.emplace_back(Tensor::Empty(StoredShape(parameter, index), part.dtype()));
          Dispatch(part.dtype(),
                   [&]<typename T>(T) { WriteInOrder<T>(parameter, index, part.data<T>(), stored.data<T>()); });
          part = stored;
        }
        more.push_back(Stored(name, part));
        continue;
      }
      part = part.ViewAs({part.shape()[0], parameter.matrix_shape()[1]});
      if (type == Compute::int4) {
        const std::int64_t groups = kernels::Int4Groups(part.columns());
        auto& codes = all_codes.emplace_back(static_cast<std::size_t>(part.rows() * groups * kernels::kInt4GroupBytes));
        auto& group_scales = quantized.emplace_back(static_cast<std::size_t>(part.rows() * groups));
        const Tensor& scales = kept.emplace_back(Tensor::Empty({part.rows()}, DType::float32));
        ParallelFor(part.rows(), [&](std::int64_t row) {
          scales.data<float>()[row] = kernels::QuantizeInt4(part.matrix<float>().row(row), part.columns(),
                                                            codes.data() + row * groups * kernels::kInt4GroupBytes,
                                                            group_scales.data() + row * groups);
        });
        more.push_back(
            {name, StoredType::u8, {part.rows(), groups * kernels::kInt4GroupBytes}, std::as_bytes(std::span(codes))});
        more.push_back(
            {GroupScaleName(name), StoredType::i8, {part.rows(), groups}, std::as_bytes(std::span(group_scales))});
        more.push_back(Stored(ScaleName(name), scales));
        continue;
      }
      std::vector<std::int8_t>& values = quantized.emplace_back(static_cast<std::size_t>(part.elements()));
      const Tensor& row_scales = kept.emplace_back(Tensor::Empty({part.rows()}, DType::float32));
      for (std::int64_t row = 0; row < part.rows(); ++row)
        row_scales.data<float>()[row] =
            kernels::QuantizeRow(part.matrix<float>().row(row), part.columns(), values.data() + row * part.columns());
      if (Reordered(parameter)) {
        const std::vector<std::int8_t> rows = values;
        WriteInOrder<std::int8_t>(parameter, index, rows.data(), values.data());
      }
      more.push_back({name, StoredType::i8, StoredShape(parameter, index), std::as_bytes(std::span(values))});
      more.push_back(Stored(ScaleName(name), row_scales));
    }
  }
  WriteSafetensors(path, std::move(more));
}

}  // namespace headlight

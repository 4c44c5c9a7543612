#include "headlight/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are used in the byte order of the file");

constexpr std::uint64_t kMaxHeader = 100'000'000;  // bytes; the limit that the format specifies
constexpr std::string_view kMetadata = "__metadata__";

struct TypeRow {
  StoredType type;
  const char* name;
  std::int64_t size;
};
constexpr std::array<TypeRow, 11> kTypes = {{{StoredType::boolean, "BOOL", 1},
                                             {StoredType::u8, "U8", 1},
                                             {StoredType::i8, "I8", 1},
                                             {StoredType::i16, "I16", 2},
                                             {StoredType::f16, "F16", 2},
                                             {StoredType::bf16, "BF16", 2},
                                             {StoredType::i32, "I32", 4},
                                             {StoredType::f32, "F32", 4},
                                             {StoredType::f64, "F64", 8},
                                             {StoredType::i64, "I64", 8},
                                             {StoredType::block, "block", 0}}};

const TypeRow& Row(StoredType type) { return kTypes[static_cast<std::size_t>(type)]; }

StoredType ReadType(const JsonView& view) {
  const std::string name = view.String();
  const auto found = std::ranges::find(kTypes, name, &TypeRow::name);
  Check(found != kTypes.end() && found->type != StoredType::block, "{}: elements of type {} are not supported",
        view.location(), Quoted(name));
  return found->type;
}

Shape ReadShape(const JsonView& view) {
  std::vector<std::int64_t> axes;
  for (const JsonView& axis : view.Items()) axes.push_back(axis.Integer(0));
  try {
    return Shape(axes);
  } catch (const Error& error) {
    Fail("{}: {}", view.location(), error.what());
  }
}

// Reads a tensor of the header. Its bytes are a view of `data`, the part of the file after the header.
StoredTensor ReadEntry(const std::string& name, const JsonView& entry, std::span<const std::byte> data,
                       const std::string& source) {
  StoredTensor tensor{name, ReadType(entry["dtype"]), ReadShape(entry["shape"]), {}};
  const std::vector<JsonView> offsets = entry["data_offsets"].Items();
  Check(offsets.size() == 2, "{}: tensor {}: data_offsets must be two numbers, not {}", source, Quoted(name),
        offsets.size());
  const std::int64_t begin = offsets[0].Integer(0), end = offsets[1].Integer(0);
  Check(begin <= end && static_cast<std::uint64_t>(end) <= data.size(),
        "{}: tensor {}: bytes {} to {} are outside the {} bytes after the header: the file is damaged or truncated",
        source, Quoted(name), begin, end, data.size());
  std::int64_t expected = 0;
  Check(!__builtin_mul_overflow(tensor.shape.elements(), SizeOf(tensor.type), &expected) && expected == end - begin,
        "{}: tensor {}: {} bytes do not hold {} elements of shape {}", source, Quoted(name), end - begin,
        Name(tensor.type), ToString(tensor.shape));
  entry.RefuseUnread({});
  tensor.bytes = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  return tensor;
}

// Throws Error unless the tensors fill the file without gaps, which could contain hidden data.
void CheckLayout(std::span<const StoredTensor> tensors, std::span<const std::byte> data, const std::string& source) {
  const std::byte* end = data.data();
  for (const StoredTensor& tensor : tensors) {
    const std::byte* begin = tensor.bytes.data();
    Check(begin >= end, "{}: tensor {}: overlaps the one before it", source, Quoted(tensor.name));
    Check(begin == end, "{}: tensor {}: {} bytes before it belong to no tensor", source, Quoted(tensor.name),
          begin - end);
    end = begin + tensor.bytes.size();
  }
  const auto rest = data.data() + data.size() - end;
  Check(rest == 0, "{}: the last {} bytes belong to no tensor", source, rest);
}

}  // namespace

std::int64_t SizeOf(StoredType type) { return Row(type).size; }
const char* Name(StoredType type) { return Row(type).name; }

std::span<const std::byte> StoredTensor::Row(std::int64_t row) const {
  const std::size_t size = bytes.size() / static_cast<std::size_t>(shape[0]);
  return bytes.subspan(static_cast<std::size_t>(source_row ? source_row(row) : row) * size, size);
}

SafetensorsContent ParseSafetensors(std::span<const std::byte> file, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  Check(!text.starts_with("version https://git-lfs"),
        "{}: this is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`", source);
  std::uint64_t length = 0;
  Check(file.size() >= sizeof(length), "{}: {} bytes are too few for a safetensors file", source, file.size());
  std::memcpy(&length, file.data(), sizeof(length));
  Check(length <= kMaxHeader, "{}: a header of {} bytes, more than the {} that the format allows: not safetensors?",
        source, length, kMaxHeader);
  Check(length <= file.size() - sizeof(length), "{}: a header of {} bytes in a file of {}: the file is truncated",
        source, length, file.size());
  const std::string_view header = text.substr(sizeof(length), length);
  Check(header.starts_with('{'), "{}: the header does not begin with '{{': not safetensors?", source);
  const std::span<const std::byte> data = file.subspan(sizeof(length) + length);

  SafetensorsContent content;
  for (const auto& [name, entry] : JsonView(ParseJson(header, source), source).Members()) {
    if (name == kMetadata) {
      for (const auto& [key, value] : entry.Members()) content.metadata.emplace(key, value.String());
    } else {
      content.tensors.push_back(ReadEntry(name, entry, data, source));
    }
  }
  std::ranges::sort(content.tensors, {}, [](const StoredTensor& tensor) {
    return std::tuple(tensor.bytes.data(), tensor.bytes.size());  // at equal offsets, empty tensors come first
  });
  CheckLayout(content.tensors, data, source);
  return content;
}

Safetensors::Safetensors(const std::string& path) {
  files_.emplace_back(path);
  path_ = files_.back().path();
  SafetensorsContent content = ParseSafetensors(files_.back().bytes(), path_);
  metadata_ = std::move(content.metadata);
  for (StoredTensor& tensor : content.tensors) tensors_.emplace(tensor.name, tensor);
}

Safetensors Safetensors::Of(std::string path, std::vector<StoredTensor> tensors, std::shared_ptr<const void> memory) {
  Safetensors all;
  all.path_ = std::move(path);
  all.memory_.push_back(std::move(memory));
  for (StoredTensor& tensor : tensors) {
    std::string name = tensor.name;
    const bool fresh = all.tensors_.emplace(std::move(name), std::move(tensor)).second;
    Check(fresh, "{}: two tensors have the same name", all.path_);
  }
  return all;
}

Safetensors Safetensors::Joined(std::string path, std::vector<Safetensors> files) {
  Safetensors all;
  all.path_ = std::move(path);
  for (Safetensors& file : files) {
    all.tensors_.merge(file.tensors_);
    Ensure(file.tensors_.empty(), "{}: two of its files have a tensor with the same name", all.path_);
    all.metadata_.merge(file.metadata_);
    std::ranges::move(file.files_, std::back_inserter(all.files_));
    std::ranges::move(file.memory_, std::back_inserter(all.memory_));
  }
  return all;
}

const std::string& Safetensors::PathOf(const StoredTensor& tensor) const {
  const auto holds = [&](const MappedFile& file) {
    return tensor.bytes.data() >= file.bytes().data() &&
           tensor.bytes.data() + tensor.bytes.size() <= file.bytes().data() + file.bytes().size();
  };
  const auto file = std::ranges::find_if(files_, holds);
  return file == files_.end() ? path_ : file->path();
}

const StoredTensor& Safetensors::At(std::string_view name) const {
  const auto found = tensors_.find(name);
  Check(found != tensors_.end(), "{}: there is no tensor {}", path(), Quoted(name));
  return found->second;
}

StoredTensor Stored(std::string name, const Tensor& tensor) {
  Ensure(tensor.contiguous(), "tensor {} is a view of columns, which cannot be written", name);
  StoredTensor stored{std::move(name), StoredType::f32, tensor.shape(), {}};
  const auto view = [&]<typename T>(StoredType type, T) {
    stored.type = type;
    stored.bytes = std::as_bytes(tensor.span<T>());
  };
  switch (tensor.dtype()) {
    case DType::float32:
      view(StoredType::f32, float{});
      break;
    case DType::float64:
      view(StoredType::f64, double{});
      break;
    case DType::int32:
      view(StoredType::i32, std::int32_t{});
      break;
  }
  return stored;
}

void WriteSafetensors(const std::string& path, std::vector<StoredTensor> tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::ranges::sort(tensors, [](const StoredTensor& a, const StoredTensor& b) {
    return std::tie(b.type, a.name) < std::tie(a.type, b.name);
  });
  Json::Object header;
  if (!metadata.empty()) {
    Json::Object members;
    for (const auto& [key, value] : metadata) members.push_back({key, value});
    header.push_back({std::string(kMetadata), std::move(members)});
  }
  std::int64_t begin = 0;
  std::set<std::string_view> names{kMetadata};
  for (const StoredTensor& tensor : tensors) {
    Ensure(names.insert(tensor.name).second, "{}: the name {} is taken", path, Quoted(tensor.name));
    Ensure(!tensor.source_row, "{}: tensor {} is in the order of another file", path, Quoted(tensor.name));
    const auto size = static_cast<std::int64_t>(tensor.bytes.size());
    Ensure(size == tensor.shape.elements() * SizeOf(tensor.type), "{}: tensor {}: {} bytes for {} elements", path,
           Quoted(tensor.name), size, tensor.shape.elements());
    const auto axes = tensor.shape.axes();
    header.push_back({tensor.name, Json::Object{{"dtype", Name(tensor.type)},
                                                {"shape", Json::Array(axes.begin(), axes.end())},
                                                {"data_offsets", Json::Array{begin, begin + size}}}});
    begin += size;
  }
  std::string text = Json(std::move(header)).Line();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the following tensors to 8 bytes
  const auto length = static_cast<std::uint64_t>(text.size());

  AtomicFile file(path);
  file.Write(std::as_bytes(std::span(&length, 1)));
  file.Write(text);
  for (const StoredTensor& tensor : tensors) file.Write(tensor.bytes);
  file.Commit();
}

}  // namespace headlight

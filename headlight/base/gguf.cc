#include "headlight/base/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/gguf_entries.h"
#include "headlight/base/json.h"

namespace headlight {

static_assert(std::endian::native == std::endian::little, "the format's numbers are used as they are in the file");

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kMostEntries = 1 << 20;  // maximum number of keys, and of tensors
constexpr std::uint64_t kMostName = 1 << 16;     // maximum bytes of a key or of a tensor's name
constexpr int kMostAxes = 4;

constexpr std::array<GgufTypeInfo, 15> kTypes = {{{GgufType::f32, 0, "F32", 1, 4},
                                                  {GgufType::f16, 1, "F16", 1, 2},
                                                  {GgufType::bf16, 30, "BF16", 1, 2},
                                                  {GgufType::q4_0, 2, "Q4_0", 32, 18},
                                                  {GgufType::q4_1, 3, "Q4_1", 32, 20},
                                                  {GgufType::q5_0, 6, "Q5_0", 32, 22},
                                                  {GgufType::q5_1, 7, "Q5_1", 32, 24},
                                                  {GgufType::q8_0, 8, "Q8_0", 32, 34},
                                                  {GgufType::q2_k, 10, "Q2_K", 256, 84},
                                                  {GgufType::q3_k, 11, "Q3_K", 256, 110},
                                                  {GgufType::q4_k, 12, "Q4_K", 256, 144},
                                                  {GgufType::q5_k, 13, "Q5_K", 256, 176},
                                                  {GgufType::q6_k, 14, "Q6_K", 256, 210},
                                                  {GgufType::iq4_nl, 20, "IQ4_NL", 32, 18},
                                                  {GgufType::iq4_xs, 23, "IQ4_XS", 256, 136}}};

// Returns the name of a llama.cpp type that this reader does not support, for error messages.
std::string NameOfOther(std::uint32_t id) {
  constexpr std::array<std::pair<std::uint32_t, const char*>, 16> others = {{{9, "Q8_1"},
                                                                             {15, "Q8_K"},
                                                                             {16, "IQ2_XXS"},
                                                                             {17, "IQ2_XS"},
                                                                             {18, "IQ3_XXS"},
                                                                             {19, "IQ1_S"},
                                                                             {21, "IQ3_S"},
                                                                             {22, "IQ2_S"},
                                                                             {24, "I8"},
                                                                             {25, "I16"},
                                                                             {26, "I32"},
                                                                             {27, "I64"},
                                                                             {28, "F64"},
                                                                             {29, "IQ1_M"},
                                                                             {34, "TQ1_0"},
                                                                             {35, "TQ2_0"}}};
  const auto found = std::ranges::find(others, id, &std::pair<std::uint32_t, const char*>::first);
  return found == others.end() ? fmt::format("of the unknown number {}", id) : found->second;
}

enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
constexpr std::uint32_t kValueTypes = 13;

bool IsFloat(ValueType type) { return type == ValueType::f32 || type == ValueType::f64; }
bool IsNumber(ValueType type) { return type != ValueType::string && type != ValueType::array; }

std::size_t SizeOf(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    default:
      return 8;
  }
}

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

std::int64_t IntegerAt(ValueType type, const std::byte* from) {
  switch (type) {
    case ValueType::u8:
    case ValueType::boolean:
      return Load<std::uint8_t>(from);
    case ValueType::i8:
      return Load<std::int8_t>(from);
    case ValueType::u16:
      return Load<std::uint16_t>(from);
    case ValueType::i16:
      return Load<std::int16_t>(from);
    case ValueType::u32:
      return Load<std::uint32_t>(from);
    case ValueType::i32:
      return Load<std::int32_t>(from);
    default:
      return Load<std::int64_t>(from);
  }
}

double FloatAt(ValueType type, const std::byte* from) {
  return type == ValueType::f32 ? static_cast<double>(Load<float>(from)) : Load<double>(from);
}

}  // namespace

const GgufTypeInfo& InfoOf(GgufType type) { return kTypes[static_cast<std::size_t>(type)]; }
std::span<const GgufTypeInfo> GgufTypes() { return kTypes; }

// Reads a file sequentially, and never beyond its end.
class GgufReader {
 public:
  GgufReader(std::span<const std::byte> file, std::string source)
      : file_(file), rest_(file), source_(std::move(source)) {}

  GgufContent Read() {
    const auto text = [&](std::size_t count) {
      return std::string_view(reinterpret_cast<const char*>(file_.data()), std::min(count, file_.size()));
    };
    Check(text(23) != "version https://git-lfs",
          "{}: this is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`", source_);
    Check(text(kMagic.size()) != "FUGG", "{}: is GGUF in big-endian order, and only little-endian is read", source_);
    Check(text(kMagic.size()) == kMagic, "{}: does not begin with {}", source_, kMagic);
    Take(kMagic.size(), "the header");
    const auto version = TakeNumber<std::uint32_t>("the header");
    Check((version & 0xffff) != 0, "{}: is GGUF in big-endian order, and only little-endian is read", source_);
    Check(version == 2 || version == 3, "{}: is GGUF of version {}; versions 2 and 3 are read", source_, version);
    const auto tensors = TakeNumber<std::uint64_t>("the header"), entries = TakeNumber<std::uint64_t>("the header");
    Check(tensors <= kMostEntries && entries <= kMostEntries, "{}: {} tensors and {} keys, more than {}: damaged?",
          source_, tensors, entries, kMostEntries);
    for (std::uint64_t entry = 0; entry < entries; ++entry) ReadEntry();
    for (std::uint64_t tensor = 0; tensor < tensors; ++tensor) ReadTensor();
    ReadBytes();
    return std::move(content_);
  }

  // Returns the metadata as it is stored in the file.
  static std::vector<GgufEntry> EntriesOf(std::span<const std::byte> file, const std::string& source) {
    GgufReader reader(file, source);
    reader.Read();
    return std::move(reader.entries_);
  }

  // Returns the strings of an array, whose bytes were checked when the file was parsed.
  static std::vector<std::string_view> StringsOf(std::span<const std::byte> bytes, std::uint64_t count) {
    GgufReader reader(bytes, "");
    std::vector<std::string_view> strings;
    strings.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) strings.push_back(reader.TakeString("", bytes.size()));
    return strings;
  }

 private:
  std::span<const std::byte> Take(std::uint64_t count, std::string_view what) {
    Check(count <= rest_.size(), "{}: ends within {}: the file is cut off or damaged", source_, what);
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  template <typename T>
  T TakeNumber(std::string_view what) {
    return Load<T>(Take(sizeof(T), what).data());
  }

  std::string_view TakeString(std::string_view what, std::uint64_t most) {
    const auto length = TakeNumber<std::uint64_t>(what);
    Check(length <= most, "{}: {} has {} bytes, more than {}: damaged?", source_, what, length, most);
    const auto bytes = Take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  ValueType TakeType(const std::string& location) {
    const auto type = TakeNumber<std::uint32_t>(location);
    Check(type < kValueTypes, "{}: {} has a value of the unknown type {}", source_, location, type);
    return static_cast<ValueType>(type);
  }

  void ReadEntry() {
    const std::string_view key = TakeString("a key", kMostName);
    const std::string location = fmt::format("key {}", Quoted(key));
    const std::span<const std::byte> from = rest_;
    const bool fresh = content_.metadata.emplace(key, ReadValue(TakeType(location), location)).second;
    entries_.push_back({std::string(key), from.first(from.size() - rest_.size())});
    Check(fresh, "{}: {} is there twice", source_, location);
    if (key == "general.alignment") {
      const auto* given = std::get_if<std::int64_t>(&content_.metadata.find(key)->second);
      Check(given != nullptr && *given >= 8 && *given <= 1 << 20 && std::has_single_bit(std::uint64_t(*given)),
            "{}: {} must be a power of two from 8 to 1048576", source_, location);
      alignment_ = static_cast<std::uint64_t>(*given);
    }
  }

  GgufValue ReadValue(ValueType type, const std::string& location) {
    if (type == ValueType::string) return TakeString(location, rest_.size());
    if (type == ValueType::array) return ReadArray(location);
    const std::byte* at = Take(SizeOf(type), location).data();
    if (IsFloat(type)) return FloatAt(type, at);
    const std::int64_t number = IntegerAt(type, at);
    Check(type != ValueType::boolean || number <= 1, "{}: {} is neither false nor true, but {}", source_, location,
          number);
    if (type == ValueType::boolean) return number == 1;
    Check(type != ValueType::u64 || number >= 0, "{}: {} is larger than 2^63", source_, location);
    return number;
  }

  GgufArray ReadArray(const std::string& location) {
    GgufArray array;
    array.place_ = fmt::format("{}: {}", source_, location);
    const ValueType type = TakeType(location);
    Check(type != ValueType::array, "{}: {} is an array of arrays, which is not read", source_, location);
    array.type_ = static_cast<std::uint32_t>(type);
    array.count_ = TakeNumber<std::uint64_t>(location);
    const std::span<const std::byte> from = rest_;
    if (IsNumber(type)) {
      Check(array.count_ <= rest_.size() / SizeOf(type), "{}: ends within {}: the file is cut off or damaged", source_,
            location);
      Take(array.count_ * SizeOf(type), location);
    } else {
      Check(array.count_ <= rest_.size() / sizeof(std::uint64_t), "{}: ends within {}: the file is cut off or damaged",
            source_, location);
      for (std::uint64_t i = 0; i < array.count_; ++i) TakeString(location, rest_.size());
    }
    array.bytes_ = from.first(from.size() - rest_.size());
    return array;
  }

  void ReadTensor() {
    GgufTensor tensor;
    tensor.name = TakeString("a tensor's name", kMostName);
    const std::string location = fmt::format("tensor {}", Quoted(tensor.name));
    Check(names_.insert(tensor.name).second, "{}: {} is there twice", source_, location);
    const auto axes = TakeNumber<std::uint32_t>(location);
    Check(axes <= kMostAxes, "{}: {} has {} axes, more than {}", source_, location, axes, kMostAxes);
    std::int64_t elements = 1;
    for (std::uint32_t axis = 0; axis < axes; ++axis) {
      const auto size = TakeNumber<std::uint64_t>(location);
      const bool fits = size <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} &&
                        !__builtin_mul_overflow(elements, static_cast<std::int64_t>(size), &elements);
      Check(fits, "{}: {} is too large", source_, location);
      tensor.axes.insert(tensor.axes.begin(), static_cast<std::int64_t>(size));
    }
    const auto id = TakeNumber<std::uint32_t>(location);
    const auto found = std::ranges::find(kTypes, id, &GgufTypeInfo::id);
    Check(found != kTypes.end(), "{}: {} is {}, which is not read", source_, location, NameOfOther(id));
    tensor.type = found->type;
    const std::int64_t row = tensor.axes.empty() ? 1 : tensor.axes.back();
    Check(row % found->run == 0, "{}: {}: rows of {} numbers are no whole blocks of {}, as {} needs", source_, location,
          row, found->run, found->name);
    std::int64_t bytes = 0;
    Check(!__builtin_mul_overflow(elements / found->run, found->size, &bytes), "{}: {} is too large", source_,
          location);
    places_.emplace_back(TakeNumber<std::uint64_t>(location), static_cast<std::uint64_t>(bytes));
    content_.tensors.push_back(std::move(tensor));
  }

  // Finds the bytes of all tensors, which must not overlap.
  void ReadBytes() {
    const std::uint64_t header = file_.size() - rest_.size();
    const std::uint64_t padding = (alignment_ - header % alignment_) % alignment_;
    if (content_.tensors.empty()) return;
    Take(padding, "the padding before the tensors");
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto& [offset, bytes] = places_[i];
      const std::string& name = content_.tensors[i].name;
      Check(offset % alignment_ == 0, "{}: tensor {} begins at byte {}, no multiple of the alignment, {}", source_,
            Quoted(name), offset, alignment_);
      Check(offset <= rest_.size() && bytes <= rest_.size() - offset,
            "{}: tensor {}: {} bytes from byte {} are not in the {} of the tensors: the file is cut off or damaged",
            source_, Quoted(name), bytes, offset, rest_.size());
      content_.tensors[i].bytes = rest_.subspan(offset, bytes);
      order.emplace_back(offset, i);
    }
    std::ranges::sort(order);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::uint64_t end = order[i - 1].first + places_[order[i - 1].second].second;
      Check(end <= order[i].first, "{}: tensor {} overlaps another", source_,
            Quoted(content_.tensors[order[i].second].name));
    }
  }

  std::span<const std::byte> file_, rest_;
  std::string source_;
  std::uint64_t alignment_ = 32;
  GgufContent content_;
  std::vector<GgufEntry> entries_;
  std::set<std::string, std::less<>> names_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places_;  // offset and size of each tensor
};

std::vector<std::int64_t> GgufArray::Integers() const {
  const auto type = static_cast<ValueType>(type_);
  Check(IsNumber(type) && !IsFloat(type), "{}: its items are no integers", place_);
  std::vector<std::int64_t> items;
  items.reserve(count_);
  for (std::uint64_t i = 0; i < count_; ++i) items.push_back(IntegerAt(type, bytes_.data() + i * SizeOf(type)));
  return items;
}

std::vector<float> GgufArray::Floats() const {
  const auto type = static_cast<ValueType>(type_);
  Check(IsFloat(type), "{}: its items are no floating-point numbers", place_);
  std::vector<float> items;
  items.reserve(count_);
  for (std::uint64_t i = 0; i < count_; ++i)
    items.push_back(static_cast<float>(FloatAt(type, bytes_.data() + i * SizeOf(type))));
  return items;
}

std::vector<std::string_view> GgufArray::Strings() const {
  Check(static_cast<ValueType>(type_) == ValueType::string, "{}: its items are no strings", place_);
  return GgufReader::StringsOf(bytes_, count_);
}

GgufContent ParseGguf(std::span<const std::byte> file, const std::string& source) {
  return GgufReader(file, source).Read();
}

std::vector<GgufEntry> ParseGgufEntries(std::span<const std::byte> file, const std::string& source) {
  return GgufReader::EntriesOf(file, source);
}

bool IsGguf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kMagic.size()> begin{};
  file.read(begin.data(), begin.size());
  const std::string_view text(begin.data(), static_cast<std::size_t>(file.gcount()));
  return text == kMagic || text == "FUGG" || path.ends_with(".gguf");
}

namespace {

// Returns the path of file `index` (from 0) of a split model, given the path of the first file.
std::string SplitPath(const std::string& first, std::int64_t index, std::int64_t count) {
  const std::string ending = fmt::format("-00001-of-{:05}.gguf", count);
  Check(first.ends_with(ending), "{}: is one of {} files; the name of the first file must end with {}", first, count,
        ending);
  return fmt::format("{}-{:05}-of-{:05}.gguf", first.substr(0, first.size() - ending.size()), index + 1, count);
}

}  // namespace

Gguf::Gguf(const std::string& path) : path_(path) {
  files_.emplace_back(path);
  GgufContent content = ParseGguf(files_.back().bytes(), path);
  metadata_ = std::move(content.metadata);
  tensors_ = std::move(content.tensors);
  constexpr std::string_view count_key = "split.count", number_key = "split.no", tensors_key = "split.tensors.count";
  if (!contains(count_key)) return;
  constexpr std::int64_t most = 99'999;
  const std::int64_t count = Integer(count_key, 0, most);
  Check(count <= 1 || Integer(number_key, 0, most) == 0,
        "{}: is file {} of {}; name the first, ...-00001-of-{:05}.gguf", path, Integer(number_key, 0, most) + 1, count,
        count);
  std::set<std::string> names;
  for (const GgufTensor& tensor : tensors_) names.insert(tensor.name);
  for (std::int64_t index = 1; index < count; ++index) {
    const std::string next = SplitPath(path, index, count);
    Check(Exists(next), "{}: this file of the split model is missing", next);
    files_.emplace_back(next);
    GgufContent its = ParseGguf(files_.back().bytes(), next);
    const auto number = its.metadata.find(number_key);
    const std::int64_t* is = number == its.metadata.end() ? nullptr : std::get_if<std::int64_t>(&number->second);
    Check(is != nullptr && *is == index, "{}: its {} is not {}", next, number_key, index);
    for (GgufTensor& tensor : its.tensors) {
      Check(names.insert(tensor.name).second, "{}: tensor {} is in another file, too", next, Quoted(tensor.name));
      tensors_.push_back(std::move(tensor));
    }
  }
  if (!contains(tensors_key)) return;
  const std::int64_t expected = Integer(tensors_key, 0, kMostEntries);
  Check(static_cast<std::int64_t>(tensors_.size()) == expected, "{}: its files have {} tensors, not {}", path,
        tensors_.size(), expected);
}

std::string Gguf::Place(std::string_view key) const { return fmt::format("{}: key {}", path_, Quoted(key)); }

const GgufValue& Gguf::At(std::string_view key) const {
  const auto found = metadata_.find(key);
  Check(found != metadata_.end(), "{}: is missing", Place(key));
  return found->second;
}

std::int64_t Gguf::Integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const auto* value = std::get_if<std::int64_t>(&At(key));
  Check(value != nullptr, "{}: is no integer", Place(key));
  Check(*value >= least && *value <= most, "{}: must be from {} to {}, not {}", Place(key), least, most, *value);
  return *value;
}

double Gguf::Number(std::string_view key, double least, double most) const {
  const GgufValue& value = At(key);
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  Check(integer != nullptr || real != nullptr, "{}: is no number", Place(key));
  const double number = integer != nullptr ? static_cast<double>(*integer) : *real;
  Check(number >= least && number <= most, "{}: must be from {} to {}, not {}", Place(key), least, most, number);
  return number;
}

std::string Gguf::Text(std::string_view key) const {
  const auto* value = std::get_if<std::string_view>(&At(key));
  Check(value != nullptr, "{}: is no string", Place(key));
  return std::string(*value);
}

bool Gguf::Flag(std::string_view key) const {
  const auto* value = std::get_if<bool>(&At(key));
  Check(value != nullptr, "{}: is neither false nor true", Place(key));
  return *value;
}

const GgufArray& Gguf::Array(std::string_view key) const {
  const auto* value = std::get_if<GgufArray>(&At(key));
  Check(value != nullptr, "{}: is no array", Place(key));
  return *value;
}

}  // namespace headlight

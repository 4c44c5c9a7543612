#include "headlight/base/gguf_write.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

// The ids of the value types that are written.
constexpr std::uint32_t kU8 = 0, kU32 = 4, kI32 = 5, kF32 = 6, kBoolean = 7, kString = 8, kArray = 9;

constexpr std::size_t kLongestTensorName = 63;  // the longest name that llama.cpp reads
constexpr std::size_t kMostTensorAxes = 4;

template <typename T>
void Put(T value, std::string& to) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void PutString(std::string_view text, std::string& to) {
  Put(std::uint64_t{text.size()}, to);
  to += text;
}

void PutArrayHeader(std::uint32_t type, std::size_t count, std::string& to) {
  Put(kArray, to);
  Put(type, to);
  Put(std::uint64_t{count}, to);
}

std::string Padding(std::int64_t size, std::int64_t alignment) {
  return std::string(static_cast<std::size_t>((alignment - size % alignment) % alignment), '\0');
}

}  // namespace

std::string& GgufMetadata::Value(const std::string& key) {
  const auto found = std::ranges::find(items_, key, &Item::key);
  Item& item = found == items_.end() ? items_.emplace_back() : *found;
  item.key = key;
  item.value.clear();
  return item.value;
}

void GgufMetadata::SetInteger(const std::string& key, std::int64_t value) {
  Check(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(), "{}: {} has more than 32 bits", key, value);
  std::string& to = Value(key);
  Put(kU32, to);
  Put(static_cast<std::uint32_t>(value), to);
}

void GgufMetadata::SetNumber(const std::string& key, double value) {
  std::string& to = Value(key);
  Put(kF32, to);
  Put(static_cast<float>(value), to);
}

void GgufMetadata::SetFlag(const std::string& key, bool value) {
  std::string& to = Value(key);
  Put(kBoolean, to);
  Put(static_cast<std::uint8_t>(value), to);
}

void GgufMetadata::SetText(const std::string& key, std::string_view value) {
  std::string& to = Value(key);
  Put(kString, to);
  PutString(value, to);
}

void GgufMetadata::SetTexts(const std::string& key, std::span<const std::string> values) {
  std::string& to = Value(key);
  PutArrayHeader(kString, values.size(), to);
  for (const std::string& value : values) PutString(value, to);
}

void GgufMetadata::SetNumbers(const std::string& key, std::span<const float> values) {
  std::string& to = Value(key);
  PutArrayHeader(kF32, values.size(), to);
  for (const float value : values) Put(value, to);
}

void GgufMetadata::SetIntegers(const std::string& key, std::span<const std::int32_t> values) {
  std::string& to = Value(key);
  PutArrayHeader(kI32, values.size(), to);
  for (const std::int32_t value : values) Put(value, to);
}

void GgufMetadata::SetBytes(const std::string& key, std::string_view bytes) {
  std::string& to = Value(key);
  PutArrayHeader(kU8, bytes.size(), to);
  to += bytes;
}

void GgufMetadata::SetEntry(const GgufEntry& entry) {
  Value(entry.key).append(reinterpret_cast<const char*>(entry.value.data()), entry.value.size());
}

void GgufMetadata::Remove(std::string_view key) {
  std::erase_if(items_, [&](const Item& item) { return item.key == key; });
}

std::int64_t GgufTensorPlan::RowNumbers() const { return axes.empty() ? 1 : axes.back(); }

std::int64_t GgufTensorPlan::Rows() const {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) rows *= axes[i];
  return rows;
}

std::int64_t GgufTensorPlan::RowBytes() const {
  const GgufTypeInfo& info = InfoOf(type);
  Check(RowNumbers() % info.run == 0, "tensor {}: rows of {} numbers are no whole blocks of {}, as {} needs",
        Quoted(name), RowNumbers(), info.run, info.name);
  return RowNumbers() / info.run * info.size;
}

GgufWriter::GgufWriter(const std::string& path, const GgufMetadata& metadata, std::span<const GgufTensorPlan> tensors,
                       std::int64_t alignment)
    : file_(path), alignment_(alignment) {
  std::string header = "GGUF";
  Put(std::uint32_t{3}, header);
  Put(std::uint64_t{tensors.size()}, header);
  Put(std::uint64_t{metadata.items_.size()}, header);
  for (const GgufMetadata::Item& item : metadata.items_) {
    PutString(item.key, header);
    header += item.value;
  }
  std::int64_t offset = 0;
  for (const GgufTensorPlan& tensor : tensors) {
    Check(tensor.name.size() <= kLongestTensorName, "tensor {}: its name has {} bytes, more than {}",
          Quoted(tensor.name), tensor.name.size(), kLongestTensorName);
    Check(tensor.axes.size() <= kMostTensorAxes, "tensor {}: has {} axes, more than {}", Quoted(tensor.name),
          tensor.axes.size(), kMostTensorAxes);
    PutString(tensor.name, header);
    Put(static_cast<std::uint32_t>(tensor.axes.size()), header);
    for (auto axis = tensor.axes.rbegin(); axis != tensor.axes.rend(); ++axis)
      Put(static_cast<std::uint64_t>(*axis), header);
    Put(InfoOf(tensor.type).id, header);
    Put(static_cast<std::uint64_t>(offset), header);
    sizes_.push_back(tensor.Bytes());
    offset += sizes_.back() + std::ssize(Padding(sizes_.back(), alignment));
  }
  file_.Write(header);
  if (!tensors.empty()) file_.Write(Padding(std::ssize(header), alignment));
}

void GgufWriter::Write(std::span<const std::byte> bytes) {
  while (tensor_ < sizes_.size()) {
    const std::int64_t size = sizes_[tensor_];
    const auto now = static_cast<std::size_t>(std::min(size - written_, std::ssize(bytes)));
    file_.Write(bytes.first(now));
    bytes = bytes.subspan(now);
    written_ += static_cast<std::int64_t>(now);
    if (written_ < size) return;
    file_.Write(Padding(size, alignment_));
    written_ = 0;
    ++tensor_;
  }
  Ensure(bytes.empty(), "{} more bytes than the tensors have", bytes.size());
}

void GgufWriter::Commit() {
  Write({});  // skips tensors without bytes
  Ensure(tensor_ == sizes_.size(), "{} of {} tensors are written", tensor_, sizes_.size());
  file_.Commit();
}

}  // namespace headlight

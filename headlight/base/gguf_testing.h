// Writes GGUF files for tests, including invalid files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headlight::gguf_testing {

inline constexpr std::uint32_t kF32 = 0, kInt32 = 5, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9, kUint64 = 10;

// The bytes of a file, to which numbers are appended.
struct Bytes {
  template <typename T>
  Bytes& Number(T number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  Bytes& String(std::string_view string) {
    Number(std::uint64_t{string.size()});
    text += string;
    return *this;
  }
  // Returns the header of a file with this many tensors and keys.
  static Bytes Header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    Bytes bytes;
    bytes.text = "GGUF";
    return bytes.Number(version).Number(tensors).Number(keys);
  }
  Bytes& Key(std::string_view name, std::uint32_t type) { return String(name).Number(type); }
  Bytes& Tensor(std::string_view name, const std::vector<std::uint64_t>& axes, std::uint32_t type,
                std::uint64_t offset) {
    String(name).Number(static_cast<std::uint32_t>(axes.size()));
    for (const std::uint64_t axis : axes) Number(axis);
    return Number(type).Number(offset);
  }
  Bytes& Data(std::size_t count) {
    text.resize((text.size() + 31) / 32 * 32);
    text.append(count, '\1');
    return *this;
  }

  std::string text;
};

// Builds a file with metadata and F32 tensors.
class Builder {
 public:
  Builder& Set(const std::string& key, int number) { return Add(key, Bytes().Number(kInt32).Number(number)); }
  Builder& Set(const std::string& key, float number) { return Add(key, Bytes().Number(kFloat32).Number(number)); }
  Builder& Set(const std::string& key, bool flag) { return Add(key, Bytes().Number(kBool).Number(flag)); }
  Builder& Set(const std::string& key, const char* text) { return Add(key, Bytes().Number(kString).String(text)); }
  Builder& Set(const std::string& key, const std::vector<int>& numbers) {
    Bytes bytes = Array(kInt32, numbers.size());
    for (const int number : numbers) bytes.Number(number);
    return Add(key, std::move(bytes));
  }
  Builder& Set(const std::string& key, const std::vector<float>& numbers) {
    Bytes bytes = Array(kFloat32, numbers.size());
    for (const float number : numbers) bytes.Number(number);
    return Add(key, std::move(bytes));
  }
  Builder& Set(const std::string& key, const std::vector<std::string>& texts) {
    Bytes bytes = Array(kString, texts.size());
    for (const std::string& text : texts) bytes.String(text);
    return Add(key, std::move(bytes));
  }
  Builder& Remove(const std::string& key) {
    values_.erase(key);
    return *this;
  }
  // Adds a tensor whose axes are in the file's order: inputs before outputs.
  Builder& Tensor(const std::string& name, const std::vector<std::uint64_t>& axes) {
    tensors_[name] = axes;
    return *this;
  }

  std::string File() const {
    Bytes file = Bytes::Header(tensors_.size(), values_.size());
    for (const auto& [key, value] : values_) file.String(key).text += value.text;
    std::uint64_t size = 0;
    for (const auto& [name, axes] : tensors_) {
      file.Tensor(name, axes, kF32, size);
      std::uint64_t bytes = 4;
      for (const std::uint64_t axis : axes) bytes *= axis;
      size += (bytes + 31) / 32 * 32;
    }
    return file.Data(size).text;
  }

 private:
  static Bytes Array(std::uint32_t type, std::size_t count) {
    return Bytes().Number(kArray).Number(type).Number(std::uint64_t{count});
  }
  Builder& Add(const std::string& key, Bytes value) {
    values_[key] = std::move(value);
    return *this;
  }

  std::map<std::string, Bytes> values_;
  std::map<std::string, std::vector<std::uint64_t>> tensors_;
};

}  // namespace headlight::gguf_testing

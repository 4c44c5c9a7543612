// Writes GGUF files (base/gguf.h), version 3 in little-endian order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/base/gguf_entries.h"

namespace headlight {

/// Metadata to be written, in the order in which keys are first set.
class HEADLIGHT_API GgufMetadata {
 public:
  /// Sets a value of the type that llama.cpp has for such keys: unsigned 32-bit integers, and 32-bit floats.
  void SetInteger(const std::string& key, std::int64_t value);
  void SetNumber(const std::string& key, double value);
  void SetFlag(const std::string& key, bool value);
  void SetText(const std::string& key, std::string_view value);
  void SetTexts(const std::string& key, std::span<const std::string> values);
  void SetNumbers(const std::string& key, std::span<const float> values);
  void SetIntegers(const std::string& key, std::span<const std::int32_t> values);
  void SetEntry(const GgufEntry& entry);

  /// Removes a key if it is there.
  void Remove(std::string_view key);

 private:
  friend class GgufWriter;
  struct Item {
    std::string key, value;
  };
  std::string& Value(const std::string& key);

  std::vector<Item> items_;
};

/// A tensor to be written.
struct HEADLIGHT_API GgufTensorPlan {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> axes;  // as in GgufTensor

  std::int64_t RowNumbers() const;  // numbers of a row
  std::int64_t Rows() const;        // rows, of all matrices
  std::int64_t RowBytes() const;    // bytes of a row
  std::int64_t Bytes() const { return Rows() * RowBytes(); }
};

/// Writes a file atomically: the header at once, then the bytes of the tensors in their order, in any portions. Each
/// tensor begins at a multiple of `alignment`. Throws Error if writing fails, and for more axes or longer names than
/// the format has.
class HEADLIGHT_API GgufWriter {
 public:
  GgufWriter(const std::string& path, const GgufMetadata& metadata, std::span<const GgufTensorPlan> tensors,
             std::int64_t alignment = 32);

  void Write(std::span<const std::byte> bytes);
  /// Replaces the file at the path. All bytes of all tensors must have been written.
  void Commit();

 private:
  AtomicFile file_;
  std::vector<std::int64_t> sizes_;  // of the tensors
  std::size_t tensor_ = 0;           // the one that is being written
  std::int64_t written_ = 0;         // bytes of it
  std::int64_t alignment_;
};

}  // namespace headlight

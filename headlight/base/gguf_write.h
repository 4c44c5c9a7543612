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

/// The metadata of a file. Keys are written in the order in which they are first set.
class HEADLIGHT_API GgufMetadata {
 public:
  /// Set a value with the type that llama.cpp uses for such keys: unsigned 32-bit integers and 32-bit floats.
  void SetInteger(const std::string& key, std::int64_t value);
  void SetNumber(const std::string& key, double value);
  void SetFlag(const std::string& key, bool value);
  void SetText(const std::string& key, std::string_view value);
  void SetTexts(const std::string& key, std::span<const std::string> values);
  void SetNumbers(const std::string& key, std::span<const float> values);
  void SetIntegers(const std::string& key, std::span<const std::int32_t> values);
  void SetBytes(const std::string& key, std::string_view bytes);
  void SetEntry(const GgufEntry& entry);

  /// Removes a key if it exists.
  void Remove(std::string_view key);

 private:
  friend class GgufWriter;
  struct Item {
    std::string key, value;
  };
  std::string& Value(const std::string& key);

  std::vector<Item> items_;
};

/// The name, type and shape of a tensor that will be written.
struct HEADLIGHT_API GgufTensorPlan {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> axes;  ///< as in GgufTensor

  std::int64_t RowNumbers() const;  ///< elements per row
  std::int64_t Rows() const;        ///< number of rows of all matrices
  std::int64_t RowBytes() const;    ///< bytes per row
  std::int64_t Bytes() const { return Rows() * RowBytes(); }
};

/// Writes a file atomically. The constructor writes the header. The bytes of the tensors are then written in order, in
/// pieces of any size. Each tensor begins at a multiple of `alignment`. Throws Error if writing fails, or if a tensor
/// has more axes or a longer name than the format allows.
class HEADLIGHT_API GgufWriter {
 public:
  GgufWriter(const std::string& path, const GgufMetadata& metadata, std::span<const GgufTensorPlan> tensors,
             std::int64_t alignment = 32);

  void Write(std::span<const std::byte> bytes);
  /// Replaces the file at the path. All bytes of all tensors must have been written.
  void Commit();

 private:
  AtomicFile file_;
  std::vector<std::int64_t> sizes_;  // bytes of each tensor
  std::size_t tensor_ = 0;           // index of the current tensor
  std::int64_t written_ = 0;         // bytes written of the current tensor
  std::int64_t alignment_;
};

}  // namespace headlight

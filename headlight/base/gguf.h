// The container of GGUF files, as llama.cpp writes them: metadata, named tensors and their bytes. Versions 2 and 3 are
// read. It is in base/ because tokenizers read their metadata from it, and io/ reads the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/file.h"

namespace headlight {

/// The element types that are read. Block types store runs of 32 or 256 numbers together.
enum class GgufType : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs
};

struct GgufTypeInfo {
  GgufType type;
  std::uint32_t id;        // in the file
  const char* name;        // as llama.cpp prints it, "Q4_K"
  std::int64_t run, size;  // numbers of a block, and its bytes
};
HEADLIGHT_API const GgufTypeInfo& InfoOf(GgufType type);
/// All types, in the order of the enumeration.
HEADLIGHT_API std::span<const GgufTypeInfo> GgufTypes();

/// A metadata array whose items are read only on demand: a vocabulary has 262,144 strings.
class HEADLIGHT_API GgufArray {
 public:
  /// The items as integers, floats or strings. Throws Error if they have another type.
  std::vector<std::int64_t> Integers() const;
  std::vector<float> Floats() const;
  std::vector<std::string_view> Strings() const;  // of the mapped file
  std::uint64_t size() const { return count_; }

 private:
  friend class GgufReader;
  std::string place_;  // for errors: "model.gguf: key 'tokenizer.ggml.tokens'"
  std::uint32_t type_ = 0;
  std::uint64_t count_ = 0;
  std::span<const std::byte> bytes_;
};

/// A metadata value. Integers of all widths are int64; an unsigned one above its range is refused.
using GgufValue = std::variant<bool, std::int64_t, double, std::string_view, GgufArray>;

struct GgufTensor {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> axes;    // [outputs, inputs] of a matrix: the file has them in reverse
  std::span<const std::byte> bytes;  // row by row; a row of a block type is a whole number of blocks
};

struct GgufContent {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;  // in the file's order
};

/// Parses one file. All views are into `file`. Throws Error naming `source`, the key or tensor, and the rule.
HEADLIGHT_API GgufContent ParseGguf(std::span<const std::byte> file, const std::string& source);

/// True if a regular file at `path` begins as GGUF does, in either byte order.
HEADLIGHT_API bool IsGguf(const std::string& path);

/// A model in GGUF, mapped. It may be split: `path` then is the first file, "name-00001-of-00003.gguf", and the others
/// are next to it.
class HEADLIGHT_API Gguf {
 public:
  explicit Gguf(const std::string& path);

  const std::string& path() const { return path_; }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }

  /// The value of a key. Throws Error if it is missing, has another type or is out of bounds (inclusive).
  std::int64_t Integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  double Number(std::string_view key, double least, double most) const;
  std::string Text(std::string_view key) const;
  bool Flag(std::string_view key) const;
  const GgufArray& Array(std::string_view key) const;
  bool contains(std::string_view key) const { return metadata_.contains(key); }
  /// "model.gguf: key 'llama.block_count'", to begin an error with.
  std::string Place(std::string_view key) const;

 private:
  const GgufValue& At(std::string_view key) const;

  std::string path_;
  std::vector<MappedFile> files_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace headlight

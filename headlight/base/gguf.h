// Reads the container of GGUF files as written by llama.cpp: metadata, named tensors and their bytes. Versions 2 and 3
// are supported. The reader is in base/ because tokenizers use it to read metadata, and io/ uses it to read weights.
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

/// The supported element types. Each block of a block type has 32 or 256 consecutive elements.
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
  std::uint32_t id;        ///< the type's number in the file
  const char* name;        ///< the name in llama.cpp, such as "Q4_K"
  std::int64_t run, size;  ///< elements per block, and bytes per block
};
HEADLIGHT_API const GgufTypeInfo& InfoOf(GgufType type);
/// Returns all types, in the order of the enumeration.
HEADLIGHT_API std::span<const GgufTypeInfo> GgufTypes();

/// A metadata array whose items are read only on demand. For example, a vocabulary may have 262,144 strings.
class HEADLIGHT_API GgufArray {
 public:
  /// Return the items as integers, floats or strings. Throw Error if the items have another type.
  std::vector<std::int64_t> Integers() const;
  std::vector<float> Floats() const;
  std::vector<std::string_view> Strings() const;  ///< views into the mapped file
  std::uint64_t size() const { return count_; }

 private:
  friend class GgufReader;
  std::string place_;  // location for errors: "model.gguf: key 'tokenizer.ggml.tokens'"
  std::uint32_t type_ = 0;
  std::uint64_t count_ = 0;
  std::span<const std::byte> bytes_;
};

/// A metadata value. Integers of all widths are int64. An unsigned integer above the range of int64 is an error.
using GgufValue = std::variant<bool, std::int64_t, double, std::string_view, GgufArray>;

struct GgufTensor {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> axes;    ///< [outputs, inputs] of a matrix, the reverse of the order in the file
  std::span<const std::byte> bytes;  ///< row by row; a row of a block type consists of whole blocks
};

struct GgufContent {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;  ///< in the order of the file
};

/// Parses one file. All views point into `file`. Throws Error with a message that names `source`, the key or tensor,
/// and the violated rule.
HEADLIGHT_API GgufContent ParseGguf(std::span<const std::byte> file, const std::string& source);

/// Returns true if a regular file at `path` begins with GGUF's signature, in either byte order.
HEADLIGHT_API bool IsGguf(const std::string& path);

/// A memory-mapped GGUF model. The model may be split into several files. In that case, `path` is the first file,
/// "name-00001-of-00003.gguf", and the other files are next to it.
class HEADLIGHT_API Gguf {
 public:
  explicit Gguf(const std::string& path);

  const std::string& path() const { return path_; }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }

  /// Return the value of a key. Throw Error if it is missing, has another type or is out of bounds (inclusive).
  std::int64_t Integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  double Number(std::string_view key, double least, double most) const;
  std::string Text(std::string_view key) const;
  bool Flag(std::string_view key) const;
  const GgufArray& Array(std::string_view key) const;
  bool contains(std::string_view key) const { return metadata_.contains(key); }
  /// Returns the location of a key as it appears in error messages: "model.gguf: key 'llama.block_count'".
  std::string Place(std::string_view key) const;

 private:
  const GgufValue& At(std::string_view key) const;

  std::string path_;
  std::vector<MappedFile> files_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace headlight

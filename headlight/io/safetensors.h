// The safetensors format: https://github.com/huggingface/safetensors#format. The first eight bytes are the length of a
// JSON header. The header has the type, shape and offsets of each tensor in the rest of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The supported element types. The reference library writes the tensors by type, in the reverse of this order. `block`
/// represents the block types of GGUF files (kernels/blocks.h), which this format does not have.
enum class StoredType : std::uint8_t { boolean, u8, i8, i16, f16, bf16, i32, f32, f64, i64, block };
HEADLIGHT_API std::int64_t SizeOf(StoredType type);  ///< in bytes; not for block
HEADLIGHT_API const char* Name(StoredType type);     ///< name in the file, such as "F32"

/// A view of a tensor. Its bytes belong to an open file, or to a tensor to be written.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  ///< row-major, little-endian; possibly unaligned in a file
  GgufType block = GgufType::f32;    ///< the block type if `type` is block
  /// Maps a row of the tensor (an index of its first axis) to the index of its bytes, if the file has another order.
  std::function<std::int64_t(std::int64_t row)> source_row = {};

  /// Returns the bytes of a row. The tensor must have rows.
  std::span<const std::byte> Row(std::int64_t row) const;
};

/// The tensors of a memory-mapped file, in which only used data is read from disk. The constructor checks the whole
/// header, so that all views are inside the file. Errors name the file, the tensor and the rule.
class HEADLIGHT_API Safetensors {
 public:
  explicit Safetensors(const std::string& path);
  /// Presents tensors from another source as a file with this path. Names must be distinct. `memory` keeps their bytes
  /// alive, unless they outlive the result.
  static Safetensors Of(std::string path, std::vector<StoredTensor> tensors, std::shared_ptr<const void> memory = {});

  /// Presents the tensors of several files as one file with this path. Names must be distinct.
  static Safetensors Joined(std::string path, std::vector<Safetensors> files);

  const std::string& path() const { return path_; }  ///< path of the file or of the index
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool contains(std::string_view name) const { return tensors_.contains(name); }
  const StoredTensor& At(std::string_view name) const;  ///< throws Error if there is no such tensor

  /// Reads a copy of a tensor. F64, F32, F16 and BF16 become float32 or float64. Integers and BOOL become int32. Throws
  /// Error if a number is too large for the new type.
  Tensor Read(std::string_view name, DType dtype = DType::float32) const;
  /// Reads a copy of `count` slices of a tensor along the first axis, from index `first` on, as Read does.
  Tensor ReadRows(std::string_view name, std::int64_t first, std::int64_t count, DType dtype = DType::float32) const;

 private:
  Safetensors() = default;
  Tensor Read(const StoredTensor& stored, DType dtype) const;
  const std::string& PathOf(const StoredTensor& tensor) const;  // returns the file that contains the tensor

  std::string path_;
  std::vector<MappedFile> files_;
  std::vector<std::shared_ptr<const void>> memory_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The parsed tensors and metadata of a file, checked as in the constructor of Safetensors. `source` is the path in
/// errors.
struct SafetensorsContent {
  std::vector<StoredTensor> tensors;  ///< in the order of their bytes in the file
  std::map<std::string, std::string> metadata;
};
HEADLIGHT_API SafetensorsContent ParseSafetensors(std::span<const std::byte> file, const std::string& source);

/// Returns a view of `tensor`, which must be contiguous and must stay alive.
HEADLIGHT_API StoredTensor Stored(std::string name, const Tensor& tensor);

/// Writes a file atomically, with the same bytes as the reference library. Large types come first, so that every tensor
/// is aligned. Tensors of the same type are in the order of their names. PyTorch and Transformers require the "format"
/// entry.
HEADLIGHT_API void WriteSafetensors(const std::string& path, std::vector<StoredTensor> tensors,
                                    const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace headlight

// The safetensors format: https://github.com/huggingface/safetensors#format. Eight bytes hold the length of a JSON
// header, which gives the type, shape and offsets of each tensor in the rest of the file.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// The supported element types, in the reverse of the order in which the reference library writes them. `block` is for
/// the block types of GGUF files (kernels/blocks.h), which this format does not have.
enum class StoredType : std::uint8_t { boolean, u8, i8, i16, f16, bf16, i32, f32, f64, i64, block };
HEADLIGHT_API std::int64_t SizeOf(StoredType type);  // in bytes; not of block
HEADLIGHT_API const char* Name(StoredType type);     // as in the file: "F32"

/// A view: the bytes belong to an open file, or to a tensor to be written.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  ///< row-major, little-endian; in a file possibly unaligned
  GgufType block = GgufType::f32;    ///< the block type if `type` is block
};

/// The tensors of a file, memory-mapped: only used data is read from disk. The constructor checks the whole header, so
/// that all views are inside the file. Errors name the file, the tensor and the rule.
class HEADLIGHT_API Safetensors {
 public:
  explicit Safetensors(const std::string& path);
  /// Tensors from elsewhere, presented as a file with this path. Names must be distinct. `memory` keeps their bytes
  /// alive, unless they outlive the result.
  static Safetensors Of(std::string path, std::vector<StoredTensor> tensors, std::shared_ptr<const void> memory = {});

  /// The tensors of several files with distinct names, presented as one file with this path.
  static Safetensors Joined(std::string path, std::vector<Safetensors> files);

  const std::string& path() const { return path_; }  ///< of the file, or of the index
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool contains(std::string_view name) const { return tensors_.contains(name); }
  const StoredTensor& At(std::string_view name) const;  ///< throws Error if there is no such tensor

  /// Reads a copy of a tensor. F64, F32, F16 and BF16 become float32 or float64; integers and BOOL become int32. Throws
  /// Error if a number is too large for the new type.
  Tensor Read(std::string_view name, DType dtype = DType::float32) const;
  /// The same of `count` indices along the first axis from `first` on.
  Tensor ReadRows(std::string_view name, std::int64_t first, std::int64_t count, DType dtype = DType::float32) const;

 private:
  Safetensors() = default;
  Tensor Read(const StoredTensor& stored, DType dtype) const;
  const std::string& PathOf(const StoredTensor& tensor) const;  // the file that contains the tensor

  std::string path_;
  std::vector<MappedFile> files_;
  std::vector<std::shared_ptr<const void>> memory_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The contents of a file's bytes, checked like the constructor of Safetensors. `source` is the path in errors.
struct SafetensorsContent {
  std::vector<StoredTensor> tensors;  ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
};
HEADLIGHT_API SafetensorsContent ParseSafetensors(std::span<const std::byte> file, const std::string& source);

/// A view of `tensor`, which must be contiguous and must stay alive.
HEADLIGHT_API StoredTensor Stored(std::string name, const Tensor& tensor);

/// Writes a file atomically, with the same bytes as the reference library: large types first, so that every tensor is
/// aligned, then in the order of names. PyTorch and Transformers require the "format" entry.
HEADLIGHT_API void WriteSafetensors(const std::string& path, std::vector<StoredTensor> tensors,
                                    const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace headlight

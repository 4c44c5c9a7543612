// Named tensors in a file: https://github.com/huggingface/safetensors#format. Eight bytes hold the length of a JSON
// header, which gives each tensor's type, shape and place in the rest of the file.
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

// The element types that are read, in the order in which the format's own writer puts them (backwards) into a file.
// `block` is for a block type of a GGUF file (kernels/blocks.h), which this format does not have.
enum class StoredType : std::uint8_t { boolean, u8, i8, i16, f16, bf16, i32, f32, f64, i64, block };
HEADLIGHT_API std::int64_t SizeOf(StoredType type);  // bytes; not of block
HEADLIGHT_API const char* Name(StoredType type);     // as in the file: "F32"

// A view: the bytes belong to an open file, or to a tensor that will be written.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  // row by row, little-endian; in a file not necessarily aligned
  GgufType block = GgufType::f32;    // its type if `type` is block
};

// A file's tensors, mapped: only what is used is read from the disk. The constructor checks the whole header, so that
// every view lies in the file; an Error names the file, the tensor and the rule.
class HEADLIGHT_API Safetensors {
 public:
  explicit Safetensors(const std::string& path);
  // Tensors that do not stand in such a file, as if they did in one of that path. Their names differ; what their bytes
  // lie in is kept by `memory`, unless it outlives them.
  static Safetensors Of(std::string path, std::vector<StoredTensor> tensors, std::shared_ptr<const void> memory = {});

  // The tensors of several files, whose names differ, as if they were those of one file of that path.
  static Safetensors Joined(std::string path, std::vector<Safetensors> files);

  const std::string& path() const { return path_; }  // of the file, or of the index
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool contains(std::string_view name) const { return tensors_.contains(name); }
  const StoredTensor& At(std::string_view name) const;  // an Error where there is none of that name

  // A copy of that tensor. F64, F32, F16 and BF16 become float32 or float64; integers and BOOL become int32. A number
  // that is too large for the new type is an Error.
  Tensor Read(std::string_view name, DType dtype = DType::float32) const;

 private:
  Safetensors() = default;
  const std::string& PathOf(const StoredTensor& tensor) const;  // of the file that holds it

  std::string path_;
  std::vector<MappedFile> files_;
  std::vector<std::shared_ptr<const void>> memory_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

// The header of a file's bytes, checked as Safetensors' constructor does; `source` is the path for errors.
struct SafetensorsContent {
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};
HEADLIGHT_API SafetensorsContent ParseSafetensors(std::span<const std::byte> file, const std::string& source);

// A view of `tensor`, which must be contiguous and stay alive.
HEADLIGHT_API StoredTensor Stored(std::string name, const Tensor& tensor);

// Writes a file that appears whole or not at all, byte for byte what the format's own library writes: large types
// first, so that every tensor is aligned, and names in order. PyTorch and Transformers ask for that "format".
HEADLIGHT_API void WriteSafetensors(const std::string& path, std::vector<StoredTensor> tensors,
                                    const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace headlight

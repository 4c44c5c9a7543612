// Selects the type of each tensor in a GGUF file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf_write.h"

namespace headlight {

/// A type of files, such as Q4_K_M, in which tensors have several types.
struct GgufFileType {
  const char* name;
  std::int64_t id;  ///< value of `general.file_type`
  GgufType usual;   ///< type of most matrices
};
/// Returns all file types in the order of their precision.
HEADLIGHT_API std::span<const GgufFileType> GgufFileTypes();
/// Returns the file type with this name. Q3_K, Q4_K and Q5_K mean Q3_K_M, Q4_K_M and Q5_K_M. Names may be in lower
/// case. For any other name, throws Error listing all names.
HEADLIGHT_API const GgufFileType& GgufFileTypeOf(std::string_view name);

/// The properties of the model that determine the types of its tensors.
struct GgufMixModel {
  std::string architecture;  ///< name in GGUF
  std::int64_t layers = 0, heads = 1, key_heads = 1, experts = 0;
  bool importance = false;  ///< true if an importance matrix is given
};

/// Returns the types of the tensors in a file of type `file`, as selected by llama.cpp's quantize program. Vectors,
/// norms and expert routers keep their types. If blocks do not fit the rows, a type with shorter blocks or F16 is used.
HEADLIGHT_API std::vector<GgufType> GgufTypesFor(const GgufFileType& file, const GgufMixModel& model,
                                                 std::span<const GgufTensorPlan> tensors);

}  // namespace headlight

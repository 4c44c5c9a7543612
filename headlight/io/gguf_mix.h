// Which tensor of a GGUF file has which type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf_write.h"

namespace headlight {

/// A type of files, such as Q4_K_M, whose tensors have several types.
struct GgufFileType {
  const char* name;
  std::int64_t id;  // in `general.file_type`
  GgufType usual;   // of most matrices
};
/// All, in the order of their precision.
HEADLIGHT_API std::span<const GgufFileType> GgufFileTypes();
/// The one with this name; Q3_K, Q4_K and Q5_K mean Q3_K_M, Q4_K_M and Q5_K_M. Throws Error that lists all.
HEADLIGHT_API const GgufFileType& GgufFileTypeOf(std::string_view name);

/// The model, on which the choice depends besides the tensors.
struct GgufMixModel {
  std::string architecture;  // in GGUF
  std::int64_t layers = 0, heads = 1, key_heads = 1, experts = 0;
  bool importance = false;  // whether an importance matrix is given
};

/// The types of the tensors in a file of the type, as llama.cpp's quantize program chooses them. Vectors, norms and the
/// choice of experts keep their types. Rows that are no whole blocks get a type with shorter blocks, or F16.
HEADLIGHT_API std::vector<GgufType> GgufTypesFor(const GgufFileType& file, const GgufMixModel& model,
                                                 std::span<const GgufTensorPlan> tensors);

}  // namespace headlight

// Converts a language model to a GGUF file for llama.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight {

struct GgufConversion {
  std::string model = {};       ///< a folder or a GGUF file
  std::string out = {};         ///< the file to write
  std::string type = {};        ///< a type of io/gguf_mix.h, such as Q4_K_M; empty: tensors keep their types
  std::string importance = {};  ///< a text, or an importance matrix in GGUF; empty: all columns have equal importance
  std::string save_importance = {};  ///< path to write the importance matrix to; empty: not written
  bool overwrite = false;            ///< if true, an existing `out` is replaced
};

/// The callbacks of a conversion, which may be empty. An exception from a callback ends the conversion.
struct GgufConversionObserver {
  std::function<void(std::int64_t tokens, std::int64_t total)> text = {};      ///< for the importance matrix
  std::function<void(std::int64_t written, std::int64_t total)> weights = {};  ///< elements of tensors
};

struct GgufConverted {
  std::vector<std::pair<GgufType, std::int64_t>> tensors;  ///< number of tensors of each type
  std::int64_t bytes = 0;                                  ///< size of all tensors
  std::vector<std::string> left_out = {};  ///< what changes the folder's vectors and has no key, such as a prompt
};

/// Converts a model tensor by tensor, with bounded memory. The file has the same bytes for any number of threads.
/// Throws Error naming the setting, tensor or file that cannot be converted. No file is written in this case.
HEADLIGHT_API GgufConverted ConvertToGguf(const GgufConversion& options, const GgufConversionObserver& observer = {});

}  // namespace headlight

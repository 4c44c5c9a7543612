// Converts a language model's folder to GGUF, the reverse of io/gguf_model.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf_write.h"
#include "headlight/base/json.h"
#include "headlight/io/gguf_architectures.h"
#include "headlight/io/gguf_mix.h"
#include "headlight/io/model_folder.h"

namespace headlight {

/// A tensor of a file to be written, and the source of its values.
struct GgufTensorSource {
  GgufTensorPlan plan;                                         ///< has the type of the source
  std::span<const std::byte> bytes;                            ///< bytes in that type; empty: `read` provides the rows
  std::function<void(std::int64_t row, float* numbers)> read;  ///< reads one row of plan.RowNumbers() values
};

/// The metadata and tensors of a file, without the tokenizer.
struct GgufSource {
  GgufMetadata metadata;
  std::vector<GgufTensorSource> tensors;
  std::int64_t alignment = 32;
  GgufMixModel model;
};

/// Returns the architecture of a folder's model in GGUF. If there is none, throws Error listing the supported model
/// types.
HEADLIGHT_API const GgufArchitecture& GgufArchitectureFor(const JsonView& config, const Safetensors& weights);

/// Returns the GGUF name of a checkpoint's tensor, or an empty string if it has none.
HEADLIGHT_API std::string GgufTensorName(const GgufArchitecture& architecture, std::string_view name);

/// Returns the metadata and tensors of a folder. `config` is its config.json with all keys. Vectors become F32. Views
/// refer to `files`, which must stay alive. Throws Error naming a setting that the format cannot express, or a tensor
/// that is unknown or missing. A tensor must be F32, F16 or BF16.
HEADLIGHT_API GgufSource GgufSourceOf(const ModelFolder& files, const Json& config);

/// Returns the metadata and tensors of a GGUF file in their order. A split model becomes one file. Views refer to
/// `file`.
HEADLIGHT_API GgufSource GgufSourceOf(const Gguf& file);

}  // namespace headlight

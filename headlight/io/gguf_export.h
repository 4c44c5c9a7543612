// A language model's folder as GGUF has it: the reverse of io/gguf_model.h.
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

/// A tensor of a file to be written, and the source of its numbers.
struct GgufTensorSource {
  GgufTensorPlan plan;                                         // its type is that of the source
  std::span<const std::byte> bytes;                            // its bytes in that type; empty: Read makes its rows
  std::function<void(std::int64_t row, float* numbers)> read;  // one row, of plan.RowNumbers()
};

/// The contents of a file besides the tokenizer.
struct GgufSource {
  GgufMetadata metadata;
  std::vector<GgufTensorSource> tensors;
  std::int64_t alignment = 32;
  GgufMixModel model;
};

/// The architecture that a folder's model has in GGUF. Throws Error that lists the model types that have one.
HEADLIGHT_API const GgufArchitecture& GgufArchitectureFor(const JsonView& config, const Safetensors& weights);

/// The name in GGUF of a checkpoint's tensor; empty if it has none.
HEADLIGHT_API std::string GgufTensorName(const GgufArchitecture& architecture, std::string_view name);

/// The metadata and tensors of a folder. `config` is its config.json with all keys. Vectors become F32. Views are into
/// `files`, which must stay alive. Throws Error naming a setting that the format cannot express, or a tensor that is
/// unknown or missing. A tensor must be F32, F16 or BF16.
HEADLIGHT_API GgufSource GgufSourceOf(const ModelFolder& files, const Json& config);

/// The metadata and tensors of a GGUF file, in its order; those of a split model as one file. Views are into `file`.
HEADLIGHT_API GgufSource GgufSourceOf(const Gguf& file);

}  // namespace headlight

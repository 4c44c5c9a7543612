// How much each input of a model's matrices counts: the mean squares of activations over a text, which weight the
// errors of quantization.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf_write.h"
#include "headlight/io/gguf_architectures.h"

namespace headlight {

/// The inputs of a matrix or of stacked matrices.
struct Importance {
  std::vector<float> sums;    // [matrices, inputs], of the input's squares
  std::vector<float> counts;  // [matrices]: over how many rows
};

/// By the tensors' names in GGUF.
using ImportanceMatrix = std::map<std::string, Importance, std::less<>>;

/// Runs a language model on the text in a file, in parts of 512 tokens, and observes the inputs of its linear layers.
/// The function `progress` may be empty. Throws Error if the text has no tokens.
HEADLIGHT_API ImportanceMatrix MeasureImportance(const std::string& model, const GgufArchitecture& architecture,
                                                 const std::string& text,
                                                 const std::function<void(std::int64_t, std::int64_t)>& progress);

/// Reads and writes importance matrices as llama.cpp has them in GGUF: tensors NAME.in_sum2 and NAME.counts. Reading
/// throws Error naming the tensor whose shape or numbers are wrong.
HEADLIGHT_API ImportanceMatrix ReadImportance(const std::string& path);
HEADLIGHT_API void WriteImportance(const ImportanceMatrix& importance, const std::string& dataset,
                                   const std::string& path);

/// The mean squares of the tensor's inputs, [matrices, inputs]; empty if they are not known. Throws Error if the tensor
/// has another number of inputs.
HEADLIGHT_API std::vector<float> ImportanceFor(const ImportanceMatrix& importance, const GgufTensorPlan& tensor);

}  // namespace headlight

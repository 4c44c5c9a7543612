// Importance matrices: for each matrix of a model, the mean squares of its inputs over a text. Quantization weights its
// errors by these values.
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
  std::vector<float> sums;    // [matrices, inputs]: sums of the squared inputs
  std::vector<float> counts;  // [matrices]: the number of rows in each sum
};

/// Maps GGUF tensor names to importance.
using ImportanceMatrix = std::map<std::string, Importance, std::less<>>;

/// Runs a language model on the text in a file, in chunks of 512 tokens, and accumulates the squared inputs of its
/// linear layers. `progress` may be empty. Throws Error if the text has no tokens.
HEADLIGHT_API ImportanceMatrix MeasureImportance(const std::string& model, const GgufArchitecture& architecture,
                                                 const std::string& text,
                                                 const std::function<void(std::int64_t, std::int64_t)>& progress);

/// Read and write importance matrices in llama.cpp's GGUF format, with tensors NAME.in_sum2 and NAME.counts.
/// ReadImportance throws Error naming the tensor if a shape or a value is wrong.
HEADLIGHT_API ImportanceMatrix ReadImportance(const std::string& path);
HEADLIGHT_API void WriteImportance(const ImportanceMatrix& importance, const std::string& dataset,
                                   const std::string& path);

/// Returns the mean squares of the tensor's inputs, [matrices, inputs]. Returns an empty vector if they are unknown.
/// Throws Error if the tensor has a different number of inputs.
HEADLIGHT_API std::vector<float> ImportanceFor(const ImportanceMatrix& importance, const GgufTensorPlan& tensor);

}  // namespace headlight

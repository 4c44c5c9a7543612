// The config.json of a model in a GGUF file.
#pragma once

#include <vector>

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"
#include "headlight/io/gguf_architectures.h"

namespace headlight {

/// The file's metadata as config.json has it, with `quant_method` `gguf` and all tokens that end a generation as
/// `eos_token_id`. Throws Error naming the key that is missing, out of range or unknown.
Json GgufConfig(const Gguf& file, const GgufArchitecture& architecture);

/// Rotary factors, which are settings in config.json and tensors in GGUF.
inline constexpr const char *kRopeFactors = "rope_freqs.weight", *kShortFactors = "rope_factors_short.weight",
                            *kLongFactors = "rope_factors_long.weight";

/// A tensor's numbers as float32.
std::vector<float> GgufNumbers(const GgufTensor& tensor);

}  // namespace headlight

// Converts a GGUF file's metadata to config.json.
#pragma once

#include <vector>

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"
#include "headlight/io/gguf_architectures.h"

namespace headlight {

/// Returns the file's metadata as a config.json, with `quant_method` `gguf` and all tokens that end a generation as
/// `eos_token_id`. Throws Error naming the key that is missing, out of range or unknown.
Json GgufConfig(const Gguf& file, const GgufArchitecture& architecture);

/// The names of the GGUF tensors with rotary factors, which are settings in config.json.
inline constexpr const char *kRopeFactors = "rope_freqs.weight", *kShortFactors = "rope_factors_short.weight",
                            *kLongFactors = "rope_factors_long.weight";

/// Returns a tensor's values as float32.
std::vector<float> GgufNumbers(const GgufTensor& tensor);

}  // namespace headlight

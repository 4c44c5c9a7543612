// Converts a model's config.json to GGUF metadata, the reverse of io/gguf_model.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/gguf_write.h"
#include "headlight/base/json.h"
#include "headlight/io/gguf_architectures.h"

namespace headlight {

/// Numbers that are settings in config.json and a tensor in GGUF.
struct GgufFactors {
  std::string name;
  std::vector<float> numbers;
};

/// Sets the architecture and its settings, and returns the factors of scaled rotary positions. `config` is a
/// config.json with all keys. Throws Error naming a key whose value the format cannot express.
std::vector<GgufFactors> SetGgufSettings(const GgufArchitecture& architecture, const JsonView& config,
                                         GgufMetadata& metadata);

/// Returns the size under a GGUF key, such as "block_count", or 0 if the architecture does not have it.
std::int64_t GgufSize(const GgufArchitecture& architecture, const JsonView& config, std::string_view gguf);
/// Returns the number of key heads.
std::int64_t KeyHeadsOf(const GgufArchitecture& architecture, const JsonView& config);

}  // namespace headlight

// The metadata of a model in GGUF from its config.json: the reverse of io/gguf_model.h's.
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

/// A size under its key in GGUF, such as "block_count"; 0 if the architecture does not have it.
std::int64_t GgufSize(const GgufArchitecture& architecture, const JsonView& config, std::string_view gguf);
/// The number of heads of keys.
std::int64_t KeyHeadsOf(const GgufArchitecture& architecture, const JsonView& config);

}  // namespace headlight

// The metadata of a model in GGUF from its config.json: the reverse of io/gguf_model.h's.
#pragma once

#include <string>
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

/// The numbers of heads of queries and of keys.
std::int64_t HeadsOf(const GgufArchitecture& architecture, const JsonView& config);
std::int64_t KeyHeadsOf(const GgufArchitecture& architecture, const JsonView& config);

}  // namespace headlight

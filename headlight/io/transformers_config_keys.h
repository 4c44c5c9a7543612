// The keys of config.json and tokenizer_config.json in Transformers.
#pragma once

#include <string_view>

namespace headlight {

/// Each key is followed by a space.
extern const std::string_view kTransformersConfigKeys, kTransformersTokenizerKeys;

}  // namespace headlight

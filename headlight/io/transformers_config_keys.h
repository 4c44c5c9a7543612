// The keys of config.json and of tokenizer_config.json that Transformers knows.
#pragma once

#include <string_view>

namespace headlight {

/// Each with a space behind it.
extern const std::string_view kTransformersConfigKeys, kTransformersTokenizerKeys;

}  // namespace headlight

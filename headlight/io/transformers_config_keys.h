// The keys of config.json that Transformers knows.
#pragma once

#include <string_view>

namespace headlight {

/// Each with a space behind it.
extern const std::string_view kTransformersConfigKeys;

}  // namespace headlight

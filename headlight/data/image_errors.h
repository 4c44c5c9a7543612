// Error messages for several images.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// Throws Error with the messages of up to twenty images, and the number of further images that cannot be read. Does
/// nothing if there are no errors.
HEADLIGHT_API void ThrowImageErrors(const std::vector<std::string>& errors);

}  // namespace headlight

// Errors of several images at once.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// Throws Error that says what is wrong with images, of at most twenty of them, and how many more cannot be read. Does
// nothing if there are no errors.
HEADLIGHT_API void ThrowImageErrors(const std::vector<std::string>& errors);

}  // namespace headlight

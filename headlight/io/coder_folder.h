// The discrete VAE beside a DALL-E: a model's folder in the model's folder.
#pragma once

#include <string>

#include "headlight/base/export.h"

namespace headlight {

// Copies the model in the folder `coder` into the folder `vae` of `to`, without what its training left. Throws Error
// where that cannot be done.
HEADLIGHT_API void CopyCoder(const std::string& coder, const std::string& to);

}  // namespace headlight

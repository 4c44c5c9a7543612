// Passes over a validation set that ranks divide.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"

namespace headlight {

// The results of body(part, parts) for each part, [parts]: a rank runs its own. Where `ranks` is null there is one
// part. Where one throws Cancelled, all ranks do.
HEADLIGHT_API std::vector<std::string> SharedPass(Ranks* ranks,
                                                  const std::function<std::string(int part, int parts)>& body);

}  // namespace headlight

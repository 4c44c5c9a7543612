// Passes over a validation set that ranks divide.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/train/training_task.h"

namespace headlight {

// The results of body(part, parts, cancelled) for each part, [parts]: a rank runs its own. Without ranks there is one
// part. The body asks `cancelled` again and again, in the place of the watch's, unless it is empty: that also tells the
// other ranks that this one is alive. Where one throws Cancelled, all ranks do.
HEADLIGHT_API std::vector<std::string> SharedPass(
    const PassWatch& watch, const std::function<std::string(int part, int parts, const CancelCheck& cancelled)>& body);

// The numbers of each block of `at_once` examples, in their order; the last one may have fewer. A rank computes those
// of every so many-th block, and has all in the end. Throws Cancelled.
HEADLIGHT_API std::vector<std::vector<double>> SharedBlocks(
    const PassWatch& watch, std::int64_t examples, std::int64_t at_once,
    const std::function<std::vector<double>(std::int64_t begin, std::int64_t end)>& numbers_of);

}  // namespace headlight

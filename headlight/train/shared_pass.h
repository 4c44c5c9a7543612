// Passes over a validation set that several ranks share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// Returns the results of body(part, parts, cancelled) for all parts, [parts]. Each rank runs one part. Without ranks,
/// there is one part. If the argument `cancelled` is not empty, the body must call it regularly instead of the watch's
/// function. The call also sends heartbeats to the other ranks. If one rank throws Cancelled, all ranks do.
HEADLIGHT_API std::vector<std::string> SharedPass(
    const PassWatch& watch, const std::function<std::string(int part, int parts, const CancelCheck& cancelled)>& body);

/// Returns the result of `numbers_of` for each block of `at_once` examples, in order. The last block may have fewer
/// examples. The blocks are distributed among the ranks, and each rank returns the results for all blocks. Throws
/// Cancelled.
HEADLIGHT_API std::vector<std::vector<double>> SharedBlocks(
    const PassWatch& watch, std::int64_t examples, std::int64_t at_once,
    const std::function<std::vector<double>(std::int64_t begin, std::int64_t end)>& numbers_of);

}  // namespace headlight

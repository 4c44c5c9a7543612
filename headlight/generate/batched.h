// Decoding in batches of sentences of similar length, with the results in the order of the sources.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/decode.h"

namespace headlight {

// sources: ids of each sentence with its end. Batches hold at most batch_tokens source tokens (one sentence at least).
HEADLIGHT_API std::vector<std::vector<Hypothesis>> DecodeInBatches(
    const EncoderDecoder& model, const std::vector<std::vector<std::int32_t>>& sources, const DecodingOptions& options,
    std::int64_t batch_tokens = 2048);

}  // namespace headlight

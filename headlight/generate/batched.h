// Decodes batches of sentences of similar length. Results are in the order of the sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/decode.h"

namespace headlight {

/// Calls body(which) for each batch with the indices of its texts. A batch has at most batch_tokens tokens, unless it
/// is a single longer text. Texts are sorted by length, longest first. The batch that requires the most memory is
/// therefore first. Throws Error if batch_tokens is below 1.
HEADLIGHT_API void ForEachBatch(std::span<const std::size_t> lengths, std::int64_t batch_tokens,
                                const std::function<void(std::span<const std::size_t> which)>& body);

/// Decodes `sources`, the ids of each sentence including its end token. A batch has at most batch_tokens source tokens,
/// unless it is a single longer sentence.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> DecodeInBatches(
    const EncoderDecoder& model, const std::vector<std::vector<std::int32_t>>& sources, const DecodingOptions& options,
    std::int64_t batch_tokens = 2048);

}  // namespace headlight

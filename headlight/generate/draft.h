// Speculative decoding: several tokens of a text for one pass over the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/generate/beam_search.h"
#include "headlight/kernels/top_k.h"
#include "headlight/nn/context.h"

namespace headlight {

// The likeliest tokens after each of these, which are the text's next ones; one row per token.
using ReadWords = std::function<kernels::TopLogits<float>(std::span<const std::int32_t> words)>;

// Called when the search has its `length`-th token, with the result of Advance.
using WordWritten = std::function<void(std::int32_t length, std::vector<std::size_t>& from)>;

// Extends a single greedy text by its `length`-th token and the accepted drafts after it, up to the `until`-th; returns
// how many. The int8 copy of the weights, which takes a fraction of the time to read, drafts a few tokens; one pass of
// the weights themselves then verifies them, and they are accepted up to the first that differs (Leviathan et al.,
// "Fast Inference from Transformers via Speculative Decoding", 2023, with a draft made of the model itself). The result
// has the bits of decoding token by token. `read` uses the context and its cache.
std::int32_t WriteDrafted(Context& context, BeamSearch& search, std::int32_t length, std::int32_t until,
                          const BeamRules& rules, const ReadWords& read, const WordWritten& written = {});

// The last token up to which the text may or may not end as at its `length`-th; it may not up to the `shortest`-th.
std::int32_t UntilRulesChange(const BeamSearch& search, std::int32_t length, std::int32_t shortest);

}  // namespace headlight

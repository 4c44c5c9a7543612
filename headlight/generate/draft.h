// Drafting: several words of a text for one reading of the weights.
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

// What the model says after each of these words, the text's next ones in a row: one row a word, with its likeliest.
using ReadWords = std::function<kernels::TopLogits<float>(std::span<const std::int32_t> words)>;

// Told that the search has its `length`-th word, and what Advance returned.
using WordWritten = std::function<void(std::int32_t length, std::vector<std::size_t>& from)>;

// Gives a text that is written alone and greedily its `length`-th word, and those after it that were drafted right, at
// most the `until`-th; how many. The int8 copy of the weights, which is read in a fraction of the time, drafts some
// words; one pass of the weights themselves then finds what comes after each of them; and they stand up to the first
// that is another (Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", 2023, with a draft
// made of the model itself). No bit of the result differs from that of a word a pass. `read` reads with the context
// and its cache.
std::int32_t WriteDrafted(Context& context, BeamSearch& search, std::int32_t length, std::int32_t until,
                          const BeamRules& rules, const ReadWords& read, const WordWritten& written = {});

// Up to which word of a text the rules for its end are those of its `length`-th: none may end before the `shortest`.
std::int32_t UntilRulesChange(const BeamSearch& search, std::int32_t length, std::int32_t shortest);

}  // namespace headlight

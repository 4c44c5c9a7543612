// The words that the tokens of a text and its translation belong to, for word alignment. Words are separated by white
// space and counted from 0.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/pipelines/split_text.h"

namespace headlight {

/// For each token of each part, returns the index of its word in `text`, or -1 if there is none. A space belongs to the
/// next word.
std::vector<std::vector<std::int32_t>> SourceWords(std::string_view text, std::span<const TextPart> parts);

/// For each token, returns the index of its word in the decoded text, or -1 if the token decodes to nothing.
std::vector<std::int32_t> TargetWords(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens);

}  // namespace headlight

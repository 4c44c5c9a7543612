// The words that the tokens of a text and of its translation belong to, for alignments. Words are what white space
// separates, counted from 0.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/pipelines/split_text.h"

namespace headlight {

// The index of the word of `text` for each token of each of its parts: a space belongs to the word after it; -1: none.
std::vector<std::vector<std::int32_t>> SourceWords(std::string_view text, std::span<const TextPart> parts);

// The index of the word of the decoded text for each token; -1 for those that decode to nothing.
std::vector<std::int32_t> TargetWords(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens);

}  // namespace headlight

// From a text to its parts, if it is too long, and from their decoded texts to its Translation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/generate/hypothesis.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/pipelines/translation.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

// A text, or a part of one that is too long.
struct SourcePart {
  std::size_t text = 0;
  std::vector<std::int32_t> ids;    // with what stands around the tokens
  std::vector<std::int32_t> words;  // of each id but the special ones at the end; empty unless words are aligned
};

// The attention weights for `source`, which has its end, and `target`, which has none, after `start`. The last token of
// a target that fills all positions is not read.
AttentionRecord Attend(const EncoderDecoder& model, const Tokenizer& tokenizer, std::span<const std::int32_t> source,
                       std::int32_t start, std::span<const std::int32_t> target);

// Adds a part's text, score and what else the options ask for.
void AppendPart(Translation& translation, const EncoderDecoder& model, const Tokenizer& tokenizer,
                const SourcePart& source, std::int32_t start, const Hypothesis& hypothesis,
                const TranslateOptions& options, bool keep_attention);

}  // namespace headlight

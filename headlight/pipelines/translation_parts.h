// The parts of texts that are too long, and the Translations that are built from the decoded parts.
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

/// A text, or a part of a text that is too long.
struct SourcePart {
  std::size_t text = 0;
  std::vector<std::int32_t> ids;  ///< including special tokens
  std::vector<std::int32_t>
      words;  ///< index of the word of each id, except special tokens at the end; empty unless words are aligned
};

/// Returns the attention weights for `source` and `target`. `source` includes its end token. `start` precedes `target`,
/// which has no end token. If a target fills all positions, its last token is not an input.
AttentionRecord Attend(const EncoderDecoder& model, const Tokenizer& tokenizer, std::span<const std::int32_t> source,
                       std::int32_t start, std::span<const std::int32_t> target);

/// Appends a part's text and score, and the other outputs that the options request.
void AppendPart(Translation& translation, const EncoderDecoder& model, const Tokenizer& tokenizer,
                const SourcePart& source, std::int32_t start, const Hypothesis& hypothesis,
                const TranslateOptions& options, bool keep_attention);

}  // namespace headlight

// Texts to learn from: their tokens, words and classes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// A text as a model reads it.
struct TextExample {
  std::vector<std::int32_t> ids;     // special tokens too where an encoder wants them; a language model's without
  std::vector<std::int32_t> types;   // segments; empty where there are none
  std::vector<std::int32_t> words;   // for hidden words: which word an id is part of; negative: a special token
  std::vector<std::int32_t> labels;  // what is asked for: the text's class; or each token's, negative: not asked; or
                                     // the tokens that an answer begins and ends with
};

struct TextExamples {
  std::vector<TextExample> texts;
  std::int64_t bytes = 0;  // of the texts with their lines' ends
  std::int64_t tokens = 0;
  std::int64_t cut = 0;  // texts that are in pieces
};

// A text a line, plain or gzip, or JSON lines (IsJsonLines) of {"text"}. One of more than `longest` tokens is cut into
// pieces; empty ones are none. For an encoder with special tokens, segments and words. Throws Error as LineReader and
// JsonLines do.
HEADLIGHT_API TextExamples ReadTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                     std::int64_t longest, bool for_encoder);

// A text, a tab and its class a line, or two texts with a tab between and their class; or JSON lines of {"text",
// "label"}, perhaps with "text_pair". A class that is not among `labels` is added to them where they may grow. Throws
// Error naming the line for what is not that, and for what has more than `longest` tokens.
HEADLIGHT_API TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths,
                                               const PipelineTokenizer& tokenizer, std::int64_t longest,
                                               std::vector<std::string>& labels, bool may_grow);

// The number of a label, which is added to them where it is new and they may grow. Throws Error that begins with
// `place` where they may not, and for one that is empty or has control characters.
std::int32_t NumberOfLabel(std::string_view label, std::vector<std::string>& labels, bool may_grow,
                           const std::string& place);

// Of ids and labels.
HEADLIGHT_API std::uint64_t HashOfTexts(const std::vector<TextExample>& texts);

}  // namespace headlight

// Texts to learn from: their tokens, words and classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/tokenizer_pipeline.h"

namespace headlight {

// A text as a model reads it.
struct TextExample {
  std::vector<std::int32_t> ids;    // special tokens too where an encoder wants them; a language model's without
  std::vector<std::int32_t> types;  // segments; empty where there are none
  std::vector<std::int32_t> words;  // for hidden words: which word an id is part of; negative: a special token
  std::int32_t label = -1;          // for classes
};

struct TextExamples {
  std::vector<TextExample> texts;
  std::int64_t bytes = 0;  // of the texts with their lines' ends
  std::int64_t tokens = 0;
  std::int64_t cut = 0;  // texts that are in pieces
};

// A text a line, plain or gzip. One of more than `longest` tokens is cut into pieces; empty lines are none. For an
// encoder with special tokens, segments and words. Throws Error as LineReader does.
HEADLIGHT_API TextExamples ReadTexts(const std::vector<std::string>& paths, const TokenizerPipeline& tokenizer,
                                     std::int64_t longest, bool for_encoder);

// A text, a tab and its class a line, or two texts with a tab between and their class. A class that is not among
// `labels` is added to them where they may grow. Throws Error naming the line for what is not that, and for what has
// more than `longest` tokens.
HEADLIGHT_API TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths,
                                               const TokenizerPipeline& tokenizer, std::int64_t longest,
                                               std::vector<std::string>& labels, bool may_grow);

// Of ids and labels.
HEADLIGHT_API std::uint64_t HashOfTexts(const std::vector<TextExample>& texts);

}  // namespace headlight

// Texts to learn from: their tokens, words and classes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_reader.h"
#include "headlight/data/text_share.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// A text as a model reads it.
struct TextExample {
  std::vector<std::int32_t> ids;     // special tokens too where an encoder wants them; a language model's without
  std::vector<std::int32_t> types;   // segments; empty where there are none
  std::vector<std::int32_t> words;   // for hidden words: which word an id is part of; negative: a special token
  std::vector<std::int32_t> labels;  // what is asked for: the text's class; or each token's, negative: not asked; or
                                     // the tokens that an answer begins and ends with
  std::vector<float> numbers = {};   // what a regression is asked for, instead of labels
};

struct TextExamples {
  std::vector<TextExample> texts;
  std::int64_t bytes = 0;  // of the texts with their lines' ends
  std::int64_t tokens = 0;
  std::int64_t cut = 0;                    // texts that are in pieces
  std::int64_t truncated = 0;              // texts whose ends are left out
  std::vector<std::string> warnings = {};  // of files that seem to be mistaken for something else
};

// Calls body(text) for each text of a file. Throws Error as TextReader does.
HEADLIGHT_API void ForEachText(const std::string& path, const std::function<void(std::string_view text)>& body,
                               const TextSource& source = {});

// The texts of files (ForEachText). One of more than `longest` tokens is cut into pieces; empty ones are none. For an
// encoder with special tokens, segments and words. Throws Error as ForEachText.
HEADLIGHT_API TextExamples ReadTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                     std::int64_t longest, bool for_encoder, const TextShare& share = {},
                                     const TextSource& source = {});

// A whole text for an encoder, with special tokens, segments and words.
HEADLIGHT_API TextExample EncoderExample(std::string_view text, const PipelineTokenizer& tokenizer);

// Of ids and labels.
HEADLIGHT_API std::uint64_t HashOfTexts(const std::vector<TextExample>& texts);

}  // namespace headlight

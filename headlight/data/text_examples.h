// Texts for training: their tokens, words and classes.
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

/// A text as model input.
struct TextExample {
  std::vector<std::int32_t> ids;    // with special tokens for encoders, without them for language models
  std::vector<std::int32_t> types;  // segments; empty if there are none
  std::vector<std::int32_t> words;  // for masking: the index of each token's word; negative: a special token
  /// The targets: the text's class, or each token's label (negative: ignored), or an answer's first and last token.
  std::vector<std::int32_t> labels;
  std::vector<float> numbers = {};  // targets of a regression, instead of labels
};

struct TextExamples {
  std::vector<TextExample> texts;
  std::int64_t bytes = 0;  // of the texts with their line ends
  std::int64_t tokens = 0;
  std::int64_t cut = 0;                    // texts that were divided
  std::int64_t truncated = 0;              // texts whose ends were left out
  std::vector<std::string> warnings = {};  // about files that seem to be mistaken for something else
};

/// Calls body(text) for each text of a file. Throws the errors of TextReader.
HEADLIGHT_API void ForEachText(const std::string& path, const std::function<void(std::string_view text)>& body,
                               const TextSource& source = {});

/// Reads the texts of files (ForEachText). A text of more than `longest` tokens is divided; empty ones are ignored. For
/// an encoder with special tokens, segments and words. Throws the errors of ForEachText.
HEADLIGHT_API TextExamples ReadTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                     std::int64_t longest, bool for_encoder, const TextShare& share = {},
                                     const TextSource& source = {});

/// A whole text for an encoder, with special tokens, segments and words.
HEADLIGHT_API TextExample EncoderExample(std::string_view text, const PipelineTokenizer& tokenizer);

/// A hash of ids and labels.
HEADLIGHT_API std::uint64_t HashOfTexts(const std::vector<TextExample>& texts);

}  // namespace headlight

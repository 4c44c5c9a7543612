// Training texts with their tokens, words and classes.
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
  std::vector<std::int32_t> ids;    ///< with special tokens for encoders, without them for language models
  std::vector<std::int32_t> types;  ///< token types; empty if there are none
  std::vector<std::int32_t> words;  ///< word index of each token, for masking; negative: a special token
  /// The targets: the text's class, each token's label (negative: ignored), or the first and last token of an answer.
  std::vector<std::int32_t> labels;
  std::vector<float> numbers = {};  ///< regression targets, instead of labels
};

struct TextExamples {
  std::vector<TextExample> texts;
  std::int64_t bytes = 0;  ///< size of the texts in bytes, including line ends
  std::int64_t tokens = 0;
  std::int64_t cut = 0;                    ///< number of texts that were divided
  std::int64_t truncated = 0;              ///< number of texts that were truncated
  std::vector<std::string> warnings = {};  ///< warnings about files with an unexpected format
};

/// Calls body(text) for each text of a file. Throws the errors of TextReader.
HEADLIGHT_API void ForEachText(const std::string& path, const std::function<void(std::string_view text)>& body,
                               const TextSource& source = {});

/// Reads the texts of files (ForEachText). A text of more than `longest` tokens is divided. Empty texts are ignored. If
/// `for_encoder` is true, texts have special tokens, token types and words. Throws the errors of ForEachText.
HEADLIGHT_API TextExamples ReadTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                     std::int64_t longest, bool for_encoder, const TextShare& share = {},
                                     const TextSource& source = {});

/// Returns a whole text for an encoder, with special tokens, token types and words.
HEADLIGHT_API TextExample EncoderExample(std::string_view text, const PipelineTokenizer& tokenizer);

/// Returns a hash of the texts' ids and labels.
HEADLIGHT_API std::uint64_t HashOfTexts(const std::vector<TextExample>& texts);

}  // namespace headlight

// Encodes texts for models that compute one vector per text: adds special tokens and truncates. Texts are padded
// only for models that attend to padding, such as SigLIP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

struct HEADLIGHT_API WholeTexts {
  PipelineTokenizer tokenizer;
  std::int64_t longest = 77;  ///< maximum number of tokens, including special tokens
  /// If positive, every text is padded to this many tokens with `pad_id`, which the model attends to.
  std::int32_t filled = 0;
  std::int32_t pad_id = 0;

  /// Loads the tokenizer of a folder and, if texts are padded, its padding token: pad_token of tokenizer_config.json,
  /// otherwise `</s>` or `<pad>`. Throws Error if there is no padding token.
  static WholeTexts Load(const std::string& folder, std::int64_t longest, std::int32_t filled);

  struct Read {
    std::vector<std::int32_t> ids;
    std::int64_t cut = 0;  ///< number of tokens that were truncated at the end
  };
  /// Encodes a text with special tokens as at most `longest` tokens. Special tokens in the text are treated as text.
  /// Throws Error if the text is not UTF-8.
  Read operator()(std::string_view text) const;
};

}  // namespace headlight

// Texts for a model that makes one vector of each: with special tokens, cut to the longest that it reads, and padded
// only for a model that reads padding as a part of the text, as SigLIP does.
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
  std::int64_t longest = 77;  // tokens that the model reads, special ones included
  // Where positive, every text is filled up to so many tokens with `pad_id`, which the model reads as the text's own.
  std::int32_t filled = 0;
  std::int32_t pad_id = 0;

  // The tokenizer of a folder, and where texts are filled up its token of padding: pad_token of its
  // tokenizer_config.json, or else `</s>` or `<pad>`. Throws Error where there is none.
  static WholeTexts Load(const std::string& folder, std::int64_t longest, std::int32_t filled);

  struct Read {
    std::vector<std::int32_t> ids;
    std::int64_t cut = 0;  // tokens that were left out at the end
  };
  // A text with the special tokens around it, of which those that stand in it are read as text; at most `longest`
  // tokens. Throws Error where it is not UTF-8.
  Read operator()(std::string_view text) const;
};

}  // namespace headlight

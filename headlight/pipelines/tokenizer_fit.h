// Checks that a folder's tokenizer fits its model.
#pragma once

#include <cstdint>
#include <string>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// Throws Error naming the folder's config.json if the model has fewer rows than the tokenizer has tokens.
inline void CheckRows(const std::string& folder, std::int64_t tokens, std::int64_t rows) {
  Check(tokens <= rows, "{}/config.json: the model has {} tokens, and the tokenizer {}", folder, rows, tokens);
}

/// Throws Error naming the folder's tokenizer.json if it defines more token types than the model has.
inline void CheckTypes(const std::string& folder, const PipelineTokenizer& tokenizer, std::int64_t types) {
  Check(tokenizer.types() <= types, "{}/tokenizer.json: it gives {} token types, and the model has {}", folder,
        tokenizer.types(), types);
}

}  // namespace headlight

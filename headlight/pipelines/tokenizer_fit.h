// Whether a folder's tokenizer is that of its model.
#pragma once

#include <cstdint>
#include <string>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// Throws Error naming the folder's config.json where the model has fewer rows than the tokenizer has tokens.
inline void CheckRows(const std::string& folder, std::int64_t tokens, std::int64_t rows) {
  Check(tokens <= rows, "{}/config.json: the model has {} tokens, and the tokenizer {}", folder, rows, tokens);
}

/// Throws Error naming the folder's tokenizer.json where it gives a type of text that the model does not have.
inline void CheckTypes(const std::string& folder, const PipelineTokenizer& tokenizer, std::int64_t types) {
  Check(tokenizer.types() <= types, "{}/tokenizer.json: it gives {} types of texts, and the model has {}", folder,
        tokenizer.types(), types);
}

}  // namespace headlight

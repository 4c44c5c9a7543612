// Converts a folder's tokenizer to GGUF metadata, the reverse of text/tokenizers/gguf_tokenizer.h.
#pragma once

#include <cstdint>
#include <string>

#include "headlight/base/export.h"
#include "headlight/base/gguf_write.h"
#include "headlight/base/json.h"

namespace headlight {

/// Sets the keys `tokenizer.ggml...` and the chat template from the folder's files. `config` is the model's
/// config.json. Ids from the tokenizer's size to the model's `vocab_size` become unused tokens. If the folder has no
/// tokenizer, the kind is `no_vocab`, which has no tokens. Throws Error if the tokenizer is not BPE, WordPiece or
/// Unigram, or if the format has no key for one of its settings.
HEADLIGHT_API void SetGgufTokenizer(const std::string& folder, const JsonView& config, GgufMetadata& metadata);

}  // namespace headlight

// The tokenizer of a GGUF file, which has its vocabulary in the metadata.
#pragma once

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"

namespace headlight {

/// The tokenizer.json that is equivalent to the file's tokenizer, of the kinds `llama` (SentencePiece's BPE) and `gpt2`
/// (BPE of bytes, whose words the name in tokenizer.ggml.pre tells). Throws Error naming the key that is missing,
/// broken or not supported.
Json TokenizerJsonOfGguf(const Gguf& file);

}  // namespace headlight

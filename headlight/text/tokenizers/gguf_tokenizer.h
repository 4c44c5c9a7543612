// Converts the tokenizer in a GGUF file's metadata.
#pragma once

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"

namespace headlight {

/// Returns the tokenizer.json that is equivalent to the file's tokenizer. Throws Error naming the key that is missing,
/// invalid or not supported. Supported kinds:
///   llama   SentencePiece's BPE, which merges pairs in descending order of the pieces' scores
///   gemma4  SentencePiece's BPE with a list of merges
///   gpt2    byte-level BPE with the word splitting that tokenizer.ggml.pre names
///   bert    WordPiece
///   t5      SentencePiece's unigram model
Json TokenizerJsonOfGguf(const Gguf& file);

}  // namespace headlight

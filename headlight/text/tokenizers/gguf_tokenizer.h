// The tokenizer of a GGUF file, which has its vocabulary in the metadata.
#pragma once

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"

namespace headlight {

/// The tokenizer.json that is equivalent to the file's tokenizer. Throws Error naming the key that is missing, broken
/// or not supported. Kinds:
///   llama   SentencePiece's BPE, whose pairs merge in the order of the pieces' scores
///   gemma4  the same with a list of merges
///   gpt2    BPE of bytes, whose words tokenizer.ggml.pre names
///   bert    WordPiece
///   t5      SentencePiece's unigram model
Json TokenizerJsonOfGguf(const Gguf& file);

}  // namespace headlight

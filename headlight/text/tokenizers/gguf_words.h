// How byte-level tokenizers in GGUF split a text into words, by the names that llama.cpp has for it.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"

namespace headlight {

struct GgufWords {
  std::vector<const char*> patterns = {};  ///< regular expressions, applied one after another
  bool composed = false;                   ///< texts are normalized to NFC
  bool whole_pieces = false;               ///< a word that is a piece is not merged (`ignore_merges`)
  bool begins = false;                     ///< without tokenizer.ggml.add_bos_token, texts begin with that token
};

/// The splitting that tokenizer.ggml.pre names. Throws Error that lists the known names; a wrong one would give wrong
/// tokens.
const GgufWords& GgufWordsOf(const Gguf& file);

/// The reverse: a name in tokenizer.ggml.pre for a byte-level tokenizer.json. Throws Error if no known name divides
/// words in this way.
std::string GgufWordsName(const JsonView& tokenizer);

}  // namespace headlight

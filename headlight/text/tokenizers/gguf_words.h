// Word splitting of byte-level tokenizers in GGUF, identified by llama.cpp's names.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/gguf.h"
#include "headlight/base/json.h"

namespace headlight {

struct GgufWords {
  std::vector<const char*> patterns = {};  ///< regular expressions, applied one after another
  bool composed = false;                   ///< if true, texts are normalized to NFC
  bool whole_pieces = false;  ///< if true, a word that is itself a piece is used without merges (`ignore_merges`)
  bool begins = false;        ///< the default of tokenizer.ggml.add_bos_token
};

/// Returns the word splitting that tokenizer.ggml.pre names. Throws Error listing the known names for any other
/// name, since a wrong splitting would give wrong tokens.
const GgufWords& GgufWordsOf(const Gguf& file);

/// Returns a name in tokenizer.ggml.pre for the word splitting of a byte-level tokenizer.json. Throws Error if there is
/// no name for it.
std::string GgufWordsName(const JsonView& tokenizer);

}  // namespace headlight

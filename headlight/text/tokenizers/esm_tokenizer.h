// The tokenizer of all ESM-2 models.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// Returns the content of a tokenizer.json with 33 tokens, one per residue or special token, as in the published
/// vocab.txt.
HEADLIGHT_API Json EsmTokenizerJson();

/// Returns true if a vocabulary has only residue letters and special tokens, so that its texts are sequences of
/// residues.
HEADLIGHT_API bool HasResidueTokens(const Tokenizer& tokenizer);

}  // namespace headlight

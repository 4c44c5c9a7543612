// ESM-2's tokenizer, which all its models share.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// The content of a tokenizer.json: 33 tokens, one per residue, as in vocab.txt of the published folders.
HEADLIGHT_API Json EsmTokenizerJson();

// True if a vocabulary has only letters of residues and special tokens: its texts are sequences of residues.
HEADLIGHT_API bool ReadsResidues(const Tokenizer& tokenizer);

}  // namespace headlight

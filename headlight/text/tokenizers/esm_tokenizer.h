// ESM-2's tokenizer, the same for all its models.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

// The content of a tokenizer.json: 33 tokens, one a residue, as in the published folders' vocab.txt.
HEADLIGHT_API Json EsmTokenizerJson();

// True if a vocabulary has only letters of residues and special tokens: its texts are sequences of residues.
HEADLIGHT_API bool ReadsResidues(const Tokenizer& tokenizer);

}  // namespace headlight

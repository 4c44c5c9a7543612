// ESM-2's tokenizer, the same for all its models.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/json.h"

namespace headlight {

// The content of a tokenizer.json: 33 tokens, one a residue, as in the published folders' vocab.txt.
HEADLIGHT_API Json EsmTokenizerJson();

}  // namespace headlight

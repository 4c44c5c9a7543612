// The tokenizer of a folder, of the kind that its files name.
#pragma once

#include <memory>
#include <string>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

// The tokenizer of a model that reads and writes text: a MarianTokenizer where the folder has a `source.spm`, else a
// PipelineTokenizer. Throws Error naming the file and what is missing, broken or not supported.
HEADLIGHT_API std::shared_ptr<const Tokenizer> LoadTokenizer(const std::string& folder);

}  // namespace headlight

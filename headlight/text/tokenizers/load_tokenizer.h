// Loads a tokenizer of the kind that a folder's files determine.
#pragma once

#include <memory>
#include <string>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// The tokenizer of a model that reads and writes text: a MarianTokenizer if the folder has a `source.spm`, otherwise a
/// PipelineTokenizer. Throws Error naming the file and what is missing, invalid or not supported.
HEADLIGHT_API std::shared_ptr<const Tokenizer> LoadTokenizer(const std::string& folder);

}  // namespace headlight

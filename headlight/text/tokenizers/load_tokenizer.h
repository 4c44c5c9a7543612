// Loads a tokenizer of any kind from a folder.
#pragma once

#include <memory>
#include <string>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// Loads the tokenizer of a text model: a MarianTokenizer if the folder has a `source.spm`, otherwise a
/// PipelineTokenizer. Throws Error naming the file and the problem if a file is missing, invalid or not supported.
HEADLIGHT_API std::shared_ptr<const Tokenizer> LoadTokenizer(const std::string& folder);

}  // namespace headlight

// The text input of text-to-image models, in training and inference.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// Returns the token ids of a text, without special tokens. Throws Error, with a message that begins with `name`, if
/// the text is not UTF-8, has no tokens, or has more than `positions` tokens.
HEADLIGHT_API std::vector<std::int32_t> DrawingIds(const PipelineTokenizer& tokenizer, std::string_view text,
                                                   std::int32_t positions, const std::string& name);

}  // namespace headlight

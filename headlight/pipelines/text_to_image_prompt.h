// A text as decoders of drawings read it, in training and in use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// The ids of a text alone, without special tokens. Throws Error that begins with `place` for a text that is not UTF-8,
// has no token, or has more than the model reads.
HEADLIGHT_API std::vector<std::int32_t> DrawingIds(const PipelineTokenizer& tokenizer, std::string_view text,
                                                   std::int32_t positions, const std::string& place);

}  // namespace headlight

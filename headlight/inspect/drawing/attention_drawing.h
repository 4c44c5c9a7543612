// Attention as an image: for each attention of each layer, a map for every head.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

// Draws every map of the record to `path`, whose ending chooses the format: .pdf, a page for each attention of a layer,
// with an outline; .png and .svg, one below the other in one image. Rows are queries, columns are keys, both labelled
// by their tokens; a weight is a colour from light (0) to dark (LargestWeight of the map, which the scale names), the
// same for all heads of a map; what a causal map hides is hatched. Throws Error for a record that CheckAttention
// refuses, another ending, a PNG that would be too large and a file that cannot be written.
HEADLIGHT_API void DrawAttention(const AttentionRecord& record, const std::string& path);

}  // namespace headlight

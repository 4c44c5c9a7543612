// Draws attention: for each attention of each layer, a map for every head.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

/// Draws every map of the record to `path`, whose extension determines the format. A .pdf has a page for each attention
/// of a layer, with an outline. In .png and .svg files the attentions are stacked vertically. Rows are queries and
/// columns are keys, both labeled with their tokens. Weights are shown as colors from light (0) to dark
/// (LargestWeight of the map). All heads of a map have the same scale, which is drawn with its largest weight. Masked
/// weights of a causal map are hatched. Throws the same errors as CheckAttention, and Error for another extension, a
/// PNG that would be too large, and a file that cannot be written.
HEADLIGHT_API void DrawAttention(const AttentionRecord& record, const std::string& path);

}  // namespace headlight

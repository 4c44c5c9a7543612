// Sliding-window attention in the configurations of language models.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"

namespace headlight {

/// The types of layers in `layer_types`.
inline constexpr std::string_view kSlidingAttention = "sliding_attention", kFullAttention = "full_attention";

/// In a sliding layer a token attends to itself and the `window` - 1 tokens before it (Beltagy et al., "Longformer: The
/// Long-Document Transformer", 2020, section 3.1); in other layers to all tokens before it.
struct LayerWindows {
  std::int32_t window = 0;         ///< 0: no layer slides
  std::vector<bool> sliding = {};  ///< [layers]; empty: all layers slide if there is a window

  /// The window of a layer; 0: none.
  std::int32_t Of(int layer) const { return sliding.empty() || sliding[static_cast<std::size_t>(layer)] ? window : 0; }
  bool operator==(const LayerWindows&) const = default;
};

/// Describes `sliding_window` for all layers: `fallback` if the key is missing, no window if it is null (Mistral).
void DescribeWindow(ConfigTable& table, LayerWindows& windows, std::int32_t fallback);

/// Describes `sliding_window` and `layer_types`. If the latter is missing, the layers with true in `slides` slide
/// (Gemma).
void DescribeAlternatingWindows(ConfigTable& table, LayerWindows& windows, std::int32_t fallback,
                                const std::vector<bool>& slides);

/// The same, and `use_sliding_window`, without which there is no window (Qwen2).
void DescribeLayerWindows(ConfigTable& table, LayerWindows& windows, std::int32_t fallback,
                          const std::vector<bool>& slides);

}  // namespace headlight

// Sliding-window attention in the configurations of language models.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"

namespace headlight {

/// The values of `layer_types`.
inline constexpr std::string_view kSlidingAttention = "sliding_attention", kFullAttention = "full_attention";

/// The windows of a model's layers. In a sliding layer, a token attends to itself and the `window` - 1 tokens before it
/// (Beltagy et al., "Longformer: The Long-Document Transformer", 2020, section 3.1). In other layers, it attends to
/// itself and all tokens before it.
struct LayerWindows {
  std::int32_t window = 0;         ///< 0 if no layer has a window
  std::vector<bool> sliding = {};  ///< [layers]; if empty and `window` is not 0, all layers have the window

  /// Returns the window of a layer, or 0 if the layer has none.
  std::int32_t Of(int layer) const { return sliding.empty() || sliding[static_cast<std::size_t>(layer)] ? window : 0; }
  bool operator==(const LayerWindows&) const = default;
};

/// Describes `sliding_window`, which applies to all layers. A missing key means `fallback`, and null means no window
/// (Mistral).
void DescribeWindow(ConfigTable& table, LayerWindows& windows, std::int32_t fallback);

/// Describes `sliding_window` and `layer_types`. If `layer_types` is missing, `slides` determines which layers have a
/// window (Gemma).
void DescribeAlternatingWindows(ConfigTable& table, LayerWindows& windows, std::int32_t fallback,
                                const std::vector<bool>& slides);

/// Describes `use_sliding_window` and the keys of DescribeAlternatingWindows. If `use_sliding_window` is false, there
/// is no window (Qwen2).
void DescribeLayerWindows(ConfigTable& table, LayerWindows& windows, std::int32_t fallback,
                          const std::vector<bool>& slides);

}  // namespace headlight

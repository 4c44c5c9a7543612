#include "headlight/inspect/image_record.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/image/crop.h"

namespace headlight {

void CheckLayer(std::optional<int> layer, int layers) {
  Check(!layer || *layer < layers, "layer {}: the model has {} layer{}", layer.value_or(0) + 1, layers,
        layers == 1 ? "" : "s");
}

void CheckWeightsOfImage(std::int64_t tokens, std::int64_t maps, std::int64_t heads) {
  Check(tokens == 0 || tokens <= kMostWeights / tokens / maps / heads,
        "an image of {} tokens has more than {} weights in {} layers of {} heads: show one layer, or a smaller "
        "image",
        tokens, kMostWeights, maps, heads);
}

void AddCellTokens(AttentionRecord& record, Grid grid) {
  for (std::int64_t row = 0; row < grid.height; ++row)
    for (std::int64_t column = 0; column < grid.width; ++column)
      record.source_tokens.push_back(fmt::format("{}·{}", row + 1, column + 1));
}

void AddPatches(AttentionRecord& record, const ImageEncoder::Limits& limits, const Image& fitted, Grid grid) {
  for (std::int32_t token = 0; token < limits.special; ++token) {
    record.source_tokens.push_back(token == 0 ? "class token" : fmt::format("special token {}", token + 1));
    record.source_special.push_back(token);
  }
  AddCellTokens(record, grid);
  // Pixels on the right and at the bottom that are not part of a patch are not inputs of the model.
  record.source_image = {Crop(fitted, {0, 0, grid.height * limits.patch.height, grid.width * limits.patch.width}),
                         limits.special, static_cast<int>(grid.height), static_cast<int>(grid.width)};
}

void MapCollector::Add(const LayerAttention& seen) {
  layers_ = std::max(layers_, seen.layer + 1);
  if (seen.layer != layer_.value_or(seen.layer)) return;
  CheckWeightsOfImage(tokens_, std::ssize(record_.maps) + 1, seen.weights.shape()[1]);
  record_.maps.push_back(MapOf(seen));
}

}  // namespace headlight

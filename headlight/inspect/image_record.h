// The records of images' attention: their tokens, and the maps of a pass, as far as a page can hold them.
#pragma once

#include <cstdint>
#include <optional>

#include "headlight/base/grid.h"
#include "headlight/image/image.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/image_encoder.h"

namespace headlight {

// Throws Error unless there is such a layer, from 0.
void CheckLayer(std::optional<int> layer, int layers);

// Throws Error where so many maps of these heads over an image of so many tokens have more weights than kMostWeights.
void CheckWeightsOfImage(std::int64_t tokens, std::int64_t maps, std::int64_t heads);

// The names of cells by row and column ("3·7") as further sources.
void AddCellTokens(AttentionRecord& record, Grid grid);

// An image's special tokens and patches as the sources of a record, and the image as far as patches fill it.
void AddPatches(AttentionRecord& record, const ImageEncoder::Limits& limits, const Image& fitted, Grid grid);

// Adds the maps of a pass to a record: of all layers or of one, and no more weights than a page may have.
class MapCollector {
 public:
  MapCollector(AttentionRecord& record, std::int64_t tokens, std::optional<int> layer)
      : record_(record), tokens_(tokens), layer_(layer) {
    CheckWeightsOfImage(tokens, 1, 1);
  }

  void Add(const LayerAttention& seen);
  void CheckLayer() const { headlight::CheckLayer(layer_, layers_); }  // after the pass

 private:
  AttentionRecord& record_;
  std::int64_t tokens_;
  std::optional<int> layer_;
  int layers_ = 0;
};

}  // namespace headlight

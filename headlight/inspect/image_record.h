// Makes records of image attention: their tokens and the maps of a pass, within the limits of a page.
#pragma once

#include <cstdint>
#include <optional>

#include "headlight/base/grid.h"
#include "headlight/image/image.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/image_encoder.h"

namespace headlight {

/// Throws Error unless the layer, counted from 0, exists.
void CheckLayer(std::optional<int> layer, int layers);

/// Throws Error if this number of maps has more than kMostWeights weights in total. A map has `heads` heads over
/// `tokens` tokens.
void CheckWeightsOfImage(std::int64_t tokens, std::int64_t maps, std::int64_t heads);

/// Adds the names of cells by row and column ("3·7") to the sources.
void AddCellTokens(AttentionRecord& record, Grid grid);

/// Adds an image's special tokens and patches to the sources of a record. Also adds the part of the image that the
/// patches cover.
void AddPatches(AttentionRecord& record, const ImageEncoder::Limits& limits, const Image& fitted, Grid grid);

/// Adds the maps of a pass to a record, for all layers or for one layer, up to the limit of a page.
class MapCollector {
 public:
  MapCollector(AttentionRecord& record, std::int64_t tokens, std::optional<int> layer)
      : record_(record), tokens_(tokens), layer_(layer) {
    CheckWeightsOfImage(tokens, 1, 1);
  }

  void Add(const LayerAttention& seen);
  void CheckLayer() const { headlight::CheckLayer(layer_, layers_); }  // to be called after the pass

 private:
  AttentionRecord& record_;
  std::int64_t tokens_;
  std::optional<int> layer_;
  int layers_ = 0;
};

}  // namespace headlight

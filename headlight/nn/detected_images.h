// The outputs of a detection model.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/grid.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/detection_loss.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct DetectedImages {
  std::vector<QueryAnswers> layers;    ///< of the last decoder layer, or of every layer in order, if requested
  Tensor queries;                      ///< [images * queries, model]: the last states of the queries
  Tensor memory;                       ///< [cells, model]: the encoder's output for visible cells
  Sequences images;                    ///< the rows of each image in `memory`
  std::vector<Grid> grids;             ///< the cells of each image, visible or not
  std::vector<std::int32_t> cells;     ///< per row of `memory`: the index of its cell in the image's grid
  std::vector<ops::FeatureMaps> maps;  ///< for models with masks: the backbone's maps, coarse to fine
};

}  // namespace headlight

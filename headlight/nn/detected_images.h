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
  std::vector<QueryAnswers> layers;    ///< outputs of the last decoder layer, or of all layers in order if requested
  Tensor queries;                      ///< final hidden states of the queries, [images * queries, model]
  Tensor memory;                       ///< encoder output for visible cells, [cells, model]
  Sequences images;                    ///< the rows of each image in `memory`
  std::vector<Grid> grids;             ///< grid of cells of each image, including masked cells
  std::vector<std::int32_t> cells;     ///< index in the image's grid for each row of `memory`
  std::vector<ops::FeatureMaps> maps;  ///< feature maps of the backbone, coarse to fine, if the model has masks
};

}  // namespace headlight

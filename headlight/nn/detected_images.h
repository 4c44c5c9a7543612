// What a detector finds in images.
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
  std::vector<QueryAnswers> layers;    // the last decoder layer's; where all were asked for, those of each, in order
  Tensor queries;                      // [images * queries, model]: their last states
  Tensor memory;                       // [cells, model]: the encoder's last states of the cells that are seen
  Sequences images;                    // the memory of each
  std::vector<Grid> grids;             // of the cells of each image, seen or not
  std::vector<std::int32_t> cells;     // of each row of the memory, its place in its image's grid
  std::vector<ops::FeatureMaps> maps;  // of a model with masks: what they are made of, coarse to fine
};

}  // namespace headlight

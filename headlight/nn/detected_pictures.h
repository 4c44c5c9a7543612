// What a detector finds in pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/grid.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/detection_loss.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct DetectedPictures {
  std::vector<QueryAnswers> layers;    // the last decoder layer's; where all were asked for, those of each, in order
  Tensor queries;                      // [pictures * queries, model]: their last states
  Tensor memory;                       // [cells, model]: the encoder's last states of the cells that are seen
  Sequences pictures;                  // the memory of each
  std::vector<Grid> grids;             // of the cells of each picture, seen or not
  std::vector<std::int32_t> cells;     // of each row of the memory, its place in its picture's grid
  std::vector<ops::FeatureMaps> maps;  // of a model with masks: what they are made of, coarse to fine
};

}  // namespace headlight

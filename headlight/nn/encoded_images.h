// The states of images, as encoders of patches have them.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct HEADLIGHT_API EncodedImages {
  Tensor hidden;            // [tokens, model]: of each image the special tokens, then its patches row by row
  Sequences images;         // the tokens of each
  std::vector<Grid> grids;  // the patches of each

  // Row `index` of each image, [images, model].
  Tensor RowOfEach(std::int32_t index) const;
};

// What an encoder of images reads.
struct ImageLimits {
  Grid image;  // pixels of the size that the model was trained on
  Grid patch;  // pixels
  std::int64_t channels = 3;
  std::int32_t special = 1;  // tokens before the patches, of which the first is the class token
  std::int64_t model = 0;    // numbers of a state
  // Its images are independent of each other only outside training: batch norm takes the batch's statistics.
  bool batch_statistics = false;
};

}  // namespace headlight

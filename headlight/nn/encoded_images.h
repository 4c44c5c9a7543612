// The hidden states of images, as patch encoders return them.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The states of a batch of images of any sizes.
struct HEADLIGHT_API EncodedImages {
  Tensor hidden;            ///< [tokens, model]: per image, the special tokens, then the patches in row-major order
  Sequences images;         ///< the tokens of each image
  std::vector<Grid> grids;  ///< the patches of each image

  /// Row `index` of each image, [images, model].
  Tensor RowOfEach(std::int32_t index) const;
};

/// The inputs that an image encoder accepts.
struct ImageLimits {
  Grid image;  ///< size in pixels that the model was trained on
  Grid patch;  ///< pixels
  std::int64_t channels = 3;
  std::int32_t special = 1;  ///< number of tokens before the patches; the first is the class token
  std::int64_t model = 0;    ///< dimension of a state
  /// True if batch norm uses the batch's statistics. Images are then independent only outside training.
  bool batch_statistics = false;
};

}  // namespace headlight

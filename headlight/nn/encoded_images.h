// The hidden states of images that patch encoders return.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The states of a batch of images, which may differ in size.
struct HEADLIGHT_API EncodedImages {
  Tensor hidden;            ///< [tokens, model]: for each image the special tokens, then the patches in row-major order
  Sequences images;         ///< the tokens of each image
  std::vector<Grid> grids;  ///< the grid of patches of each image

  /// Returns row `index` of each image, [images, model].
  Tensor RowOfEach(std::int32_t index) const;
};

/// The inputs that an image encoder accepts.
struct ImageLimits {
  Grid image;  ///< image size used in training, in pixels
  Grid patch;  ///< patch size, in pixels
  std::int64_t channels = 3;
  std::int32_t special = 1;  ///< number of tokens before the patches; the first is the class token
  std::int64_t model = 0;    ///< dimension of a hidden state
  /// If true, batch norm uses the batch's statistics in training. Images are then independent of each other only
  /// outside training.
  bool batch_statistics = false;
};

}  // namespace headlight

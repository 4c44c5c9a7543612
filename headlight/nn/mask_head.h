// DETR's mask head (Carion et al., 2020, section 4.4 and figure 8). It refines each query's attention over the image
// with the feature maps of the backbone's stages.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "headlight/nn/convolution.h"
#include "headlight/nn/detected_images.h"
#include "headlight/nn/layers.h"

namespace headlight {

struct MaskHeadSizes {
  std::int64_t model = 0, heads = 0;  ///< sizes of the Transformer
  std::int64_t queries = 0;           ///< number of queries per image
  std::vector<std::int64_t> stages;   ///< number of channels of the backbone's stages, coarse to fine
  Activation activation = Activation::relu;
};

/// Computes activation(norm(x * W)) with a 3 x 3 kernel.
class MaskBlock {
 public:
  MaskBlock(const Scope& scope, int index, std::int64_t inputs, std::int64_t outputs, Activation activation);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  Convolution convolution_;
  GroupNorm norm_;
  Activation activation_;
};

/// Predicts a mask for each of the given queries.
class MaskHead {
 public:
  MaskHead(const Scope& scope, const MaskHeadSizes& sizes);

  /// Computes the masks that DetectionModel::Masks returns.
  FeatureMaps operator()(Context& context, const DetectedImages& found, std::span<const std::int32_t> queries) const;

 private:
  Tensor Attention(Context& context, const DetectedImages& found, std::span<const std::int32_t> queries) const;

  // A stage of the refinement. The adapter projects a feature map of the backbone to the channels of the masks. The
  // block is applied to the sum of the masks and the projected feature map.
  struct Stage {
    Convolution adapter;
    MaskBlock block;
  };

  std::int64_t heads_, queries_;  // queries_ is the number of queries per image
  Linear query_, key_;
  MaskBlock first_, second_;
  std::deque<Stage> stages_;
  Convolution output_;
};

}  // namespace headlight

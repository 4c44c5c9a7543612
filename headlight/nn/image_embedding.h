// Images as a Transformer's rows: special tokens, then patches, with their positions (Dosovitskiy et al., "An Image
// is Worth 16x16 Words", 2021, eq. 1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"
#include "headlight/nn/encoded_images.h"
#include "headlight/nn/parameters.h"
#include "headlight/nn/patches.h"

namespace headlight {

struct ImageEmbeddingConfig {
  std::int64_t model = 768;
  Grid image = {224, 224}, patch = {16, 16};  // pixels; the image is of the size that has learned positions
  std::int64_t channels = 3;
  double dropout = 0;
  // Tensors [1, tokens, model] that every image begins with; the first is the class token's.
  struct Special {
    std::string name = "cls_token";
    std::int64_t tokens = 1;
    bool has_position = true;  // of a learned table; those that have one come before those that have none
  };
  std::vector<Special> special = {Special{}};
  bool positions = true;  // a learned table [1, special tokens that have one + patches, model]
  Interpolation interpolation = Interpolation::cubic;  // of it
  // Deviation of the patches' positions when a training begins, here half of that of patches of numbers from -1 to 1.
  // Normal positions of 0.02 do not become places for long: in 300 steps a CLIP learned colours and sizes and no place,
  // and had a recall of 59, with waves of 0.5 and 1 one of 92 and 91. As large as the patches they hide them.
  double waves = 0.25;
  Shape mask = {};  // of the token that stands for masked patches; no such token where it is empty
  std::string projection = "patch_embeddings.projection";
  bool bias = true;   // of the projection
  bool flat = false;  // as CLIP stores them: a special token is [model], and the positions are [tokens, model]
  std::string table = "position_embeddings";
};

class HEADLIGHT_API ImageEmbedding {
 public:
  ImageEmbedding(const Scope& scope, const ImageEmbeddingConfig& config);

  // As kinds/image_encoder.h's Encode, with hidden as it goes into the first layer.
  EncodedImages operator()(Context& context, std::span<const Tensor> images,
                           std::span<const std::uint8_t> masked = {}) const;

  // The same of images' patches, [patches, channels * patch height * patch width] as Patches has them.
  EncodedImages Embed(Context& context, const Tensor& patches, std::vector<Grid> grids,
                      std::span<const std::uint8_t> masked = {}) const;

  ImageLimits limits() const;

 private:
  Tensor Positions(Context& context, Grid grid) const;

  ImageEmbeddingConfig config_;
  std::int32_t special_ = 0;  // tokens
  std::vector<const Parameter*> tokens_;
  const Parameter *mask_ = nullptr, *positions_ = nullptr;
  const Parameter *weight_, *bias_ = nullptr;
};

}  // namespace headlight

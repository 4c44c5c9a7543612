// Converts images to input rows of a Transformer: special tokens, then patches, with positions (Dosovitskiy et al., "An
// Image is Worth 16x16 Words", 2021, eq. 1).
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
  Grid image = {224, 224}, patch = {16, 16};  ///< in pixels; `image` is the size of the trained position table
  std::int64_t channels = 3;
  double dropout = 0;
  /// The special tokens at the start of every image. Each is a tensor [1, tokens, model]. The first is the class token.
  struct Special {
    std::string name = "cls_token";
    std::int64_t tokens = 1;
    bool has_position = true;  ///< if true, the token is in the position table; tokens with a position come first
  };
  std::vector<Special> special = {Special{}};
  bool positions = true;  ///< if true, there is a trained table [1, special tokens with a position + patches, model]
  Interpolation interpolation = Interpolation::cubic;  ///< method of resizing the position table
  /// Standard deviation of the initial patch positions, which are sinusoidal (Initialization::Waves). The default is
  /// half of the deviation of patches with values from -1 to 1. Normal initialization with a deviation of 0.02 slows
  /// the training of positions. With it, a CLIP model had a recall of 59 after 300 steps, compared with 91 to 92 for
  /// waves of 0.5 and 1. Waves as large as the patch values would hide the patches.
  double waves = 0.25;
  Shape mask = {};  ///< shape of the token that replaces masked patches; if empty, there is no mask token
  std::string projection = "patch_embeddings.projection";
  bool bias = true;   ///< if true, the projection has a bias
  bool flat = false;  ///< if true, CLIP's format: a special token is [model] and the position table [tokens, model]
  std::string table = "position_embeddings";
};

/// Embeds image patches, one row per patch, and adds position embeddings.
class HEADLIGHT_API ImageEmbedding {
 public:
  ImageEmbedding(const Scope& scope, const ImageEmbeddingConfig& config);

  /// Embeds images. The arguments are the same as for ImageEncoder::Encode (kinds/image_encoder.h). In the result,
  /// `hidden` is the input of the first layer.
  EncodedImages operator()(Context& context, std::span<const Tensor> images,
                           std::span<const std::uint8_t> masked = {}) const;

  /// Embeds patches of images, [patches, channels * patch height * patch width], as returned by Patches.
  EncodedImages Embed(Context& context, const Tensor& patches, std::vector<Grid> grids,
                      std::span<const std::uint8_t> masked = {}) const;

  ImageLimits limits() const;

 private:
  Tensor Positions(Context& context, Grid grid) const;

  ImageEmbeddingConfig config_;
  std::int32_t special_ = 0;  // the number of special tokens
  std::vector<const Parameter*> tokens_;
  const Parameter *mask_ = nullptr, *positions_ = nullptr;
  const Parameter *weight_, *bias_ = nullptr;
};

}  // namespace headlight

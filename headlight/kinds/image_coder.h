// The interface of discrete variational autoencoders: an image as a grid of codes, and back (Ramesh et al., "Zero-Shot
// Text-to-Image Generation", 2021, section 2.1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/convolution.h"

namespace headlight {

// The distribution that a decoder gives each pixel.
enum class PixelDistribution {
  normal,         // its mean, of a fixed variance: the loss is the squared error
  logit_laplace,  // its location and the logarithm of its scale (ops/logit_laplace.h)
};

// Pixels of a logit-Laplace are moved from [0, 1] to [kLaplaceMargin, 1 - kLaplaceMargin], so that their logits are
// finite (appendix A.3, epsilon).
inline constexpr double kLaplaceMargin = 0.1;

class HEADLIGHT_API ImageCoder : public Model {
 public:
  static constexpr std::string_view kKind = "discrete VAE";

  // The scores of the codes of each cell, [cells, codes]. `pixels` [pixels, 3], from 0 to 1, of images whose sides
  // are multiples of limits().cell. Throws Error for a model that has a decoder alone.
  virtual FeatureMaps Encode(Context& context, const FeatureMaps& pixels) const;
  // From a weight for each code, [cells, codes], each row of which sums to 1: [pixels, 3] of the normal distribution's
  // means, of pixels that are moved from 0 to 1 to -1 to 1, or [pixels, 6] of the logit-Laplace's, of 0.1 to 0.9.
  virtual FeatureMaps Decode(Context& context, const FeatureMaps& weights) const = 0;

  struct Limits {
    std::int64_t image = 0;  // pixels of a side, for which the model was trained
    std::int64_t cell = 0;   // pixels of a side that one code stands for
    std::int64_t codes = 0;
    PixelDistribution distribution = PixelDistribution::normal;

    Grid grid() const { return {image / cell, image / cell}; }  // of an image's codes
  };
  const Limits& limits() const { return limits_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using Model::Model;

  // factor * pixel + shift, which has no gradient. Throws Error for an image whose sides are no multiples of the cell.
  FeatureMaps Input(const FeatureMaps& pixels, double factor, double shift) const;

  Limits limits_;
};

// Images of the model's size that are encoded or decoded at once, at least one: their activations are what takes the
// memory, and more of them make no product faster.
HEADLIGHT_API std::int64_t ImagesAtOnce(const ImageCoder& model);

// The likeliest code of each cell by Encode's scores, the first of equals. Throws Error where a score is not finite, as
// with damaged weights.
HEADLIGHT_API std::vector<std::int32_t> LikeliestCodes(const ImageCoder& model, const Tensor& scores);

// The same of images [height, width, 3], from 0 to 1, one after another.
HEADLIGHT_API std::vector<std::int32_t> CodesOf(const ImageCoder& model, std::span<const Tensor> images);

// Weights for ImageCoder::Decode that are 1 for these codes, one of each cell of the grids. Throws Error for a code
// that the model does not have.
HEADLIGHT_API FeatureMaps WeightsOf(const ImageCoder& model, std::span<const std::int32_t> codes,
                                    std::vector<Grid> grids);

// The pixels that Decode's result stands for, [pixels, 3], from 0 to 1. It has no gradient. Throws Error
// where a number is not finite.
HEADLIGHT_API Tensor PixelsOf(const ImageCoder& model, const Tensor& decoded);

// [1]: scale times the sum over pixels and channels of the loss of `pixels` [pixels, 3] under Decode's result: the
// squared error of pixels moved to -1 to 1, or the negative logarithm of the logit-Laplace's density.
HEADLIGHT_API Tensor ReconstructionLoss(const ImageCoder& model, const Tensor& decoded, const Tensor& pixels,
                                        double scale);

}  // namespace headlight

// The interface of discrete variational autoencoders, which encode an image as a grid of codes and decode it (Ramesh et
// al., "Zero-Shot Text-to-Image Generation", 2021, section 2.1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/convolution.h"

namespace headlight {

/// The distribution that the decoder predicts for each pixel.
enum class PixelDistribution {
  normal,         ///< fixed variance: the decoder predicts the mean, and the loss is the squared error
  logit_laplace,  ///< the decoder predicts the location and the logarithm of the scale (ops/logit_laplace.h)
};

/// For logit-Laplace, pixels are mapped from [0, 1] to [kLaplaceMargin, 1 - kLaplaceMargin], so that the logits of the
/// pixels are finite (appendix A.3, epsilon).
inline constexpr double kLaplaceMargin = 0.1;

class HEADLIGHT_API ImageCoder : public Model {
 public:
  static constexpr std::string_view kKind = "discrete VAE";

  /// Returns the logits of all codes for each cell, [cells, codes]. `pixels` are [pixels, 3] in [0, 1], and the images'
  /// sides are multiples of limits().cell. Throws Error for a model without an encoder.
  virtual FeatureMaps Encode(Context& context, const FeatureMaps& pixels) const;
  /// Decodes weights of all codes, [cells, codes]. The rows sum to 1. For a normal distribution, returns the means
  /// [pixels, 3] of pixels mapped to [-1, 1]. For logit-Laplace, returns the parameters [pixels, 6] for pixels mapped
  /// to [0.1, 0.9].
  virtual FeatureMaps Decode(Context& context, const FeatureMaps& weights) const = 0;

  struct Limits {
    std::int64_t image = 0;  ///< side of training images, in pixels
    std::int64_t cell = 0;   ///< side of the square that a code represents, in pixels
    std::int64_t codes = 0;
    PixelDistribution distribution = PixelDistribution::normal;

    Grid grid() const { return {image / cell, image / cell}; }  ///< the grid of codes of an image
  };
  const Limits& limits() const { return limits_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using Model::Model;

  /// Returns factor * pixel + shift, without gradient. Throws Error if an image's sides are not multiples of the cell.
  FeatureMaps Input(const FeatureMaps& pixels, double factor, double shift) const;

  Limits limits_;
};

/// Returns the number of images to encode or decode at once, at least one. Most of the memory is for activations, and
/// larger batches are not faster.
HEADLIGHT_API std::int64_t ImagesAtOnce(const ImageCoder& model);

/// Returns the most probable code of each cell according to Encode's logits. If several codes are equally probable,
/// returns the first. Throws Error if a logit is not finite, which indicates damaged weights.
HEADLIGHT_API std::vector<std::int32_t> LikeliestCodes(const ImageCoder& model, const Tensor& scores);

/// Returns the most probable codes of images [height, width, 3] in [0, 1], image by image.
HEADLIGHT_API std::vector<std::int32_t> CodesOf(const ImageCoder& model, std::span<const Tensor> images);

/// Returns one-hot weights for ImageCoder::Decode, with one code per cell of the grids. Throws Error for a code out of
/// range.
HEADLIGHT_API FeatureMaps WeightsOf(const ImageCoder& model, std::span<const std::int32_t> codes,
                                    std::vector<Grid> grids);

/// Converts Decode's result to pixels [pixels, 3] in [0, 1], without gradient. Throws Error if a value is not finite.
HEADLIGHT_API Tensor PixelsOf(const ImageCoder& model, const Tensor& decoded);

/// Returns the reconstruction loss, [1]: `scale` times the sum over pixels and channels. `pixels` are [pixels, 3], and
/// `decoded` is the result of Decode. The loss is the squared error of pixels mapped to [-1, 1], or the negative
/// log-likelihood of the logit-Laplace distribution.
HEADLIGHT_API Tensor ReconstructionLoss(const ImageCoder& model, const Tensor& decoded, const Tensor& pixels,
                                        double scale);

}  // namespace headlight

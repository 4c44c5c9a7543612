// Training of a discrete VAE (variational autoencoder; Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021,
// section 2.1 and appendix A.2). Codes are sampled from a relaxation of the categorical distribution (Jang et al.,
// "Categorical Reparameterization with Gumbel-Softmax", 2017). The temperature of the relaxation decreases during
// training.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/images.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct ImageCodesOptions {
  BatchOptions batches;  // batch_size counts images
  bool flip = false;     // half of the images are flipped horizontally
  /// The temperature of the Gumbel-softmax decreases along a cosine from first_temperature to `temperature` over this
  /// many batches.
  double first_temperature = 1, temperature = 1.0 / 16;
  std::int64_t temperature_batches = 150'000;
  /// The weight of the divergence of a cell's codes from the uniform distribution. It changes along a cosine from
  /// first_divergence_weight to divergence_weight over this many batches.
  double first_divergence_weight = 0, divergence_weight = 0;
  std::int64_t divergence_batches = 5'000;
};

/// Trains a discrete VAE. The loss of an image is the loss of its pixels and channels (by ImageCoder's distribution)
/// plus divergence_weight times the divergence of its cells. Both terms are divided by the number of pixels times
/// channels. A validation's score is `psnr`, the mean peak signal-to-noise ratio in dB of images decoded from their
/// likeliest codes. Validations also report `codes_used` (the number of distinct codes of the images) and
/// `code_perplexity` (2 to the entropy of the codes). The model and the sets must outlive the task. Throws Error if
/// there are no images.
HEADLIGHT_API TrainingTask ImageCodesTask(ImageCoder& model, const ImageSet& train, const ImageSet& valid,
                                          const ImageCodesOptions& options);

HEADLIGHT_API ValidationReport ValidateImageCodes(const ImageCoder& model, const ImageSet& valid,
                                                  const PassWatch& watch = {});

}  // namespace headlight

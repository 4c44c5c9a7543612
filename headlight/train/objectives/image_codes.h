// Training of a discrete VAE (variational autoencoder; Ramesh et al., "Zero-Shot Text-to-Image
// Generation", 2021, section 2.1 and appendix A.2): codes are drawn by a relaxation of the categorical distribution
// (Jang et al., "Categorical Reparameterization with Gumbel-Softmax", 2017) that a temperature sharpens.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/images.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct ImageCodesOptions {
  BatchOptions batches;  // its size is in images
  bool flip = false;     // half of the images are mirrored, left to right
  // Of the Gumbel-softmax: from the first to the last by a cosine over so many batches.
  double first_temperature = 1, temperature = 1.0 / 16;
  std::int64_t temperature_batches = 150'000;
  // Of the divergence of a cell's codes from the uniform distribution: likewise.
  double first_divergence_weight = 0, divergence_weight = 0;
  std::int64_t divergence_batches = 5'000;
};

// The loss of an image is that of its pixels (ImageCoder's distribution) and channels plus divergence_weight times
// the divergence of its cells, both divided by the number of pixels times channels. A report's score is `psnr`, the
// mean peak signal-to-noise ratio in dB of images decoded from their likeliest codes; it has `codes_used`, how many
// codes the images have, and `code_perplexity`, 2 to the entropy of the codes. Model and sets must outlive the task.
// Throws Error where there are no images.
HEADLIGHT_API TrainingTask ImageCodesTask(ImageCoder& model, const ImageSet& train, const ImageSet& valid,
                                          const ImageCodesOptions& options);

HEADLIGHT_API ValidationReport ValidateImageCodes(const ImageCoder& model, const ImageSet& valid,
                                                  const PassWatch& watch = {});

}  // namespace headlight

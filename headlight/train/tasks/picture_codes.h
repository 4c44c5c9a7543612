// Training of a discrete VAE (variational autoencoder; Ramesh et al., "Zero-Shot Text-to-Image
// Generation", 2021, section 2.1 and appendix A.2): codes are drawn by a relaxation of the categorical distribution
// (Jang et al., "Categorical Reparameterization with Gumbel-Softmax", 2017) that a temperature sharpens.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/pictures.h"
#include "headlight/kinds/picture_coder.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct PictureCodesOptions {
  BatchOptions batches;  // tokens are pictures
  bool flip = false;     // half of the pictures are mirrored, left to right
  // Of the Gumbel-softmax: from the first to the last by a cosine over so many batches.
  double first_temperature = 1, temperature = 1.0 / 16;
  std::int64_t temperature_batches = 150'000;
  // Of the divergence of a cell's codes from the uniform distribution: likewise.
  double first_divergence_weight = 0, divergence_weight = 0;
  std::int64_t divergence_batches = 5'000;
};

// The loss of a picture is that of its pixels (PictureCoder's distribution) and channels plus divergence_weight times
// the divergence of its cells, both divided by the number of pixels times channels. A report's score is `psnr`, the
// mean peak signal-to-noise ratio in dB of pictures decoded from their likeliest codes; it has `codes_used`, how many
// codes the pictures have, and `code_perplexity`, 2 to the entropy of the codes. Model and sets must outlive the task.
// Throws Error where there are no pictures.
HEADLIGHT_API TrainingTask PictureCodesTask(PictureCoder& model, const PictureSet& train, const PictureSet& valid,
                                            const PictureCodesOptions& options);

HEADLIGHT_API ValidationReport ValidatePictureCodes(const PictureCoder& model, const PictureSet& valid,
                                                    const PassWatch& watch = {});

}  // namespace headlight

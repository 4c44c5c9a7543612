// Contrastive training on images with texts (CLIP: Radford et al., 2021; SigLIP: Zhai et al., 2023). Within a batch,
// the model matches each image with its text and each text with its image.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/image_texts.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/text/tokenizers/whole_texts.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct ContrastiveOptions {
  BatchOptions batches;     // batch_size counts pairs; all pairs of a batch are compared
  std::int64_t part = 256;  // pairs whose activations exist at the same time; a larger batch is computed twice
  double least_share = 1;   // smallest area of the random crop, as a fraction of the image; 1: no cropping
};

/// Trains a model with two towers. In each epoch an image is trained with one of its texts, chosen at random. The hard
/// negatives of these texts are additional negatives for every image of the batch (Yuksekgonul et al., "When and Why
/// Vision-Language Models Behave like Bags-of-Words", 2023). A text that equals an image's own text is not a negative
/// of the image. The temperature is trained. For CLIP's loss, e^logit_scale is limited to 100.
///
/// A validation compares all images and texts within a block of 1,000 pairs. A pair is an image and its first text. The
/// hard negatives of these texts are compared too, and equal texts count as one. The scores are in per cent.
/// "text_recall" is the recall at 1 when each image retrieves its text. "image_recall" is the recall at 1 when each
/// text retrieves its image. The mean of both, "recall", selects the best model. "text_recall_at_10" and
/// "image_recall_at_10" are reported too. The model, the processor and the sets must outlive the task. Throws Error for
/// a model with one tower.
HEADLIGHT_API TrainingTask ContrastiveTask(DualEncoder& model, const ImageProcessor& processor, const WholeTexts& texts,
                                           const ImageTextSet& train, const ImageTextSet& valid,
                                           const ContrastiveOptions& options);

/// Returns the number of texts in `pairs` that are too long and therefore truncated by `texts`.
HEADLIGHT_API std::int64_t CountCutTexts(const WholeTexts& texts, const ImageTextSet& pairs);

/// Returns the recalls on `valid`, as in the task's validation, and the mean loss of the blocks.
HEADLIGHT_API ValidationReport ValidatePairs(const DualEncoder& model, const ImageProcessor& processor,
                                             const WholeTexts& texts, const ImageTextSet& valid,
                                             const PassWatch& watch = {});

}  // namespace headlight

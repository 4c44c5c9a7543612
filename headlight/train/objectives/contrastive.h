// Contrastive training of images with texts (CLIP: Radford et al., 2021; SigLIP: Zhai et al., 2023): within a batch
// each image is to find its own text, and each text its own image.
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
  BatchOptions batches;     // its size is in pairs; a batch is what is compared
  std::int64_t part = 256;  // pairs whose activations exist at a time; a larger batch is computed twice
  double least_share = 1;   // of an image's area, of a random region that is learned from; 1: all of it
};

// In each epoch an image is learned with one of its texts, which is drawn, and every image of the batch must tell
// the near misses of these texts from its own, too (Yuksekgonul et al., "When and Why Vision-Language Models Behave
// like Bags-of-Words", 2023); a text that equals an image's own is no other to it. The temperature is learned; of
// CLIP's loss e^logit_scale stays at most 100. A validation's scores are in per cent, among blocks of 1,000 pairs of an
// image and its first text: how many images find their own text first ("text_recall"), how many texts their own
// image
// ("image_recall"), and the mean of both, "recall", which is the score; and how many are found among the first ten
// ("text_recall_at_10", "image_recall_at_10"). Near misses of the first texts are among those to choose from. Equal
// texts count as one. Model, processor and sets must outlive the task. Throws Error for a model of one tower.
HEADLIGHT_API TrainingTask ContrastiveTask(DualEncoder& model, const ImageProcessor& processor, const WholeTexts& texts,
                                           const ImageTextSet& train, const ImageTextSet& valid,
                                           const ContrastiveOptions& options);

// How many of the images' texts are longer than `texts` reads, which leaves out their ends.
HEADLIGHT_API std::int64_t CountCutTexts(const WholeTexts& texts, const ImageTextSet& pairs);

/// The recalls on `valid`, which are the task's validation; the loss is that of the blocks.
HEADLIGHT_API ValidationReport ValidatePairs(const DualEncoder& model, const ImageProcessor& processor,
                                             const WholeTexts& texts, const ImageTextSet& valid,
                                             const PassWatch& watch = {});

}  // namespace headlight

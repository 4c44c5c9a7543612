// Classification of images: one class of each.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/images.h"
#include "headlight/image/augment.h"
#include "headlight/image/mix.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct ImageClassificationOptions {
  BatchOptions batches;       // its size is in images
  Augmentation augmentation;  // to the size that the processor gives
  double erasing = 0;         // probability of EraseAtRandom
  MixOptions mix;
  double label_smoothing = 0;
  double drop_path = 0;  // TrainingPass::drop_path
};

// One of TrainingBatch::parts: images as the model reads them, and the share that each class has of each.
struct ImageBatch {
  Tensor values;   // [images, height, width, 3]
  Tensor targets;  // [images, classes]
};

// The size of every image that a model learns from: what the processor makes of any image. Throws Error where that
// depends on the image.
HEADLIGHT_API ImageSize FixedSize(const ImageProcessor& processor);

// How many of so many images of one size a part has: the tokens that an encoder with these limits makes of them bound
// the memory that their activations take, and parts are alike in size. All are in one part where batch norm needs them.
std::int64_t ImagesOfPart(const ImageEncoder::Limits& limits, ImageSize size, std::int64_t images);

// A validation's score is the accuracy, beside it the macro F1, the mean of the classes' F1, in per cent. Model and
// sets must outlive the task. Throws Error for a model without classes, and for an image that has no class of it.
HEADLIGHT_API TrainingTask ImageClassificationTask(ImageEncoder& model, const ImageProcessor& processor,
                                                   const ImageSet& train, const ImageSet& valid,
                                                   const ImageClassificationOptions& options);

/// The loss, the accuracy and the macro F1 on `valid`, which are the task's validation.
HEADLIGHT_API ValidationReport ValidateImageClasses(const ImageEncoder& model, const ImageProcessor& processor,
                                                    const ImageSet& valid, const PassWatch& watch = {});

}  // namespace headlight

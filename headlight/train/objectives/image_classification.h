// Image classification with one class per image.
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
  BatchOptions batches;       // batch_size counts images
  Augmentation augmentation;  // random augmentation, which resizes to the processor's output size
  double erasing = 0;         // probability of EraseAtRandom
  MixOptions mix;
  double label_smoothing = 0;
  double drop_path = 0;  // TrainingPass::drop_path
};

/// The payload of one of TrainingBatch::parts: images as model inputs, and the target probability of each class for
/// each image.
struct ImageBatch {
  Tensor values;   // [images, height, width, 3]
  Tensor targets;  // [images, classes]
};

/// Returns the size of every training image, i.e. the processor's output size. Throws Error if the output size depends
/// on the image.
HEADLIGHT_API ImageSize FixedSize(const ImageProcessor& processor);

/// Returns the number of images of this size in a micro-batch, for a batch of `images` images. The number of encoder
/// tokens is limited to bound the memory of activations. Micro-batches have similar sizes. With batch norm, all images
/// are in one micro-batch.
std::int64_t ImagesOfPart(const ImageEncoder::Limits& limits, ImageSize size, std::int64_t images);

/// Trains an image classifier. A validation's score is the accuracy in per cent. The macro F1 (the mean of the classes'
/// F1) is reported too. The model and the sets must outlive the task. Throws Error for a model without classes, and for
/// a class that the model does not have.
HEADLIGHT_API TrainingTask ImageClassificationTask(ImageEncoder& model, const ImageProcessor& processor,
                                                   const ImageSet& train, const ImageSet& valid,
                                                   const ImageClassificationOptions& options);

/// Returns the loss, the accuracy and the macro F1 on `valid`, as in the task's validation.
HEADLIGHT_API ValidationReport ValidateImageClasses(const ImageEncoder& model, const ImageProcessor& processor,
                                                    const ImageSet& valid, const PassWatch& watch = {});

}  // namespace headlight

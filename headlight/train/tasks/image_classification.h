// Classification of pictures: one class of each.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/pictures.h"
#include "headlight/image/augment.h"
#include "headlight/image/mix.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/picture_encoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct ImageClassificationOptions {
  BatchOptions batches;       // tokens are pictures
  Augmentation augmentation;  // to the size that the processor gives
  double erasing = 0;         // probability of EraseAtRandom
  MixOptions mix;
  double label_smoothing = 0;
  double drop_path = 0;  // TrainingPass::drop_path
};

// One of TrainingBatch::parts: pictures as the model reads them, and the share that each class has of each.
struct PictureBatch {
  Tensor values;   // [pictures, height, width, 3]
  Tensor targets;  // [pictures, classes]
};

// The size of every picture that a model learns from: what the processor makes of any picture. Throws Error where that
// depends on the picture.
HEADLIGHT_API PictureSize FixedSize(const PictureProcessor& processor);

// How many of so many pictures of one size a part has: the tokens that an encoder with these limits makes of them bound
// the memory that their activations take, and parts are alike in size. All are in one part where batch norm needs them.
std::int64_t PicturesOfPart(const PictureEncoder::Limits& limits, PictureSize size, std::int64_t pictures);

// A validation's score is the accuracy, beside it the macro F1, the mean of the classes' F1, in per cent. Model and
// sets must outlive the task. Throws Error for a model without classes, and for a picture that has no class of it.
HEADLIGHT_API TrainingTask ImageClassificationTask(PictureEncoder& model, const PictureProcessor& processor,
                                                   const PictureSet& train, const PictureSet& valid,
                                                   const ImageClassificationOptions& options);

// That validation.
HEADLIGHT_API ValidationReport ValidateImageClasses(const PictureEncoder& model, const PictureProcessor& processor,
                                                    const PictureSet& valid, const PassWatch& watch = {});

}  // namespace headlight

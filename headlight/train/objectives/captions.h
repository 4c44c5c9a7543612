// Captions: a model writes what is told of an image.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/image_texts.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/train/objectives/teacher_forcing.h"
#include "headlight/train/training_task.h"

namespace headlight {

// Images with their captions as tokens, without starts and ends; each caption of an image is an example.
struct TokenizedCaptions {
  struct Example {
    std::int64_t image = 0;
    std::vector<std::int32_t> ids;
  };
  const ImageTextSet* images = nullptr;
  std::vector<Example> examples;
};
// `encode` as the model's tokenizer, without special tokens. Throws Error naming the image where a caption has no
// tokens, or more than the model writes.
HEADLIGHT_API TokenizedCaptions
TokenizeCaptions(const CaptionModel& model, const ImageTextSet& images,
                 const std::function<std::vector<std::int32_t>(const std::string& text)>& encode);

struct CaptionTrainingOptions {
  BatchOptions batches;         // its size is in images, one for each caption
  double label_smoothing = 0;   // as TeacherForcingOptions'
  double drop_path = 0;         // TrainingPass::drop_path
  std::int64_t validated = -1;  // images that captions are written for in a validation; -1: all
};

// One of TrainingBatch::parts.
struct CaptionBatch {
  std::vector<Tensor> images;  // [height, width, 3], as the model reads them
  TokenBatch texts;            // the targets, one for each
};

// Teacher forcing on captions. A validation's score is the share of greedy captions, which get no longer than the
// longest reference, that are one of their image's captions word for word, in per cent; beside it their BLEU against
// all captions of an image. Where none is right, as of free descriptions, the loss decides. The model and the sets
// must outlive the task. Throws Error for a model that writes no captions.
HEADLIGHT_API TrainingTask CaptionTask(CaptionModel& model, const ImageProcessor& processor,
                                       const TokenizedCaptions& train, const TokenizedCaptions& valid,
                                       const std::function<std::string(std::span<const std::int32_t> ids)>& decode,
                                       const CaptionTrainingOptions& options);

// The validation of `validated` images (-1: all), with the loss of every caption.
HEADLIGHT_API ValidationReport
ValidateCaptions(const CaptionModel& model, const ImageProcessor& processor, const TokenizedCaptions& valid,
                 const std::function<std::string(std::span<const std::int32_t> ids)>& decode, std::int64_t validated,
                 const PassWatch& watch = {});

}  // namespace headlight

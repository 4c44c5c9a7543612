// Image captioning: the model generates a text that describes an image.
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

/// Images with tokenized captions, without start and end tokens. Each caption is one example.
struct TokenizedCaptions {
  struct Example {
    std::int64_t image = 0;
    std::vector<std::int32_t> ids;
  };
  const ImageTextSet* images = nullptr;
  std::vector<Example> examples;
};
/// Tokenizes the captions of all images. `encode` must use the model's tokenizer, without special tokens. Throws Error
/// naming the image if a caption has no tokens or more tokens than the model can generate.
HEADLIGHT_API TokenizedCaptions
TokenizeCaptions(const CaptionModel& model, const ImageTextSet& images,
                 const std::function<std::vector<std::int32_t>(const std::string& text)>& encode);

struct CaptionTrainingOptions {
  BatchOptions batches;         // batch_size counts images, with one caption each
  double label_smoothing = 0;   // as in TeacherForcingOptions
  double drop_path = 0;         // TrainingPass::drop_path
  std::int64_t validated = -1;  // number of images that a validation generates captions for; -1: all
};

/// The payload of one of TrainingBatch::parts.
struct CaptionBatch {
  std::vector<Tensor> images;  // [height, width, 3], as model inputs
  TokenBatch texts;            // target tokens, one text per image
};

/// Trains with teacher forcing on captions. A validation's score is the percentage of greedily generated captions that
/// equal one of the image's captions. Generated captions are at most as long as the longest reference. Validations also
/// report BLEU against all captions of an image. If no caption is an exact match, as with free-form descriptions,
/// validations are ranked by the loss. The model and the sets must outlive the task. Throws Error if the model does not
/// generate captions.
HEADLIGHT_API TrainingTask CaptionTask(CaptionModel& model, const ImageProcessor& processor,
                                       const TokenizedCaptions& train, const TokenizedCaptions& valid,
                                       const std::function<std::string(std::span<const std::int32_t> ids)>& decode,
                                       const CaptionTrainingOptions& options);

/// Generates captions for `validated` images (-1: all), and computes the loss of every caption.
HEADLIGHT_API ValidationReport
ValidateCaptions(const CaptionModel& model, const ImageProcessor& processor, const TokenizedCaptions& valid,
                 const std::function<std::string(std::span<const std::int32_t> ids)>& decode, std::int64_t validated,
                 const PassWatch& watch = {});

}  // namespace headlight

// Text-to-image training on image codes (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// Images as codes of an ImageCoder, and the token ids of their texts. Each epoch uses one of an image's texts, chosen
/// at random.
struct ImageCodesWithTexts {
  std::int64_t cells = 0;                                          // number of codes per image
  std::vector<std::int32_t> codes = {};                            // [images, cells]
  std::vector<std::vector<std::vector<std::int32_t>>> texts = {};  // [images][texts]: at least one text per image

  std::int64_t count() const { return std::ssize(texts); }
};

/// The sets of training and validation. They must outlive the task.
struct ImageCodeSets {
  ImageCodesWithTexts train, valid;
};

/// The sequences of a batch, as model inputs.
struct TextToImageBatch {
  std::vector<std::int32_t> ids;  // [texts, sequence length - 1]: each sequence without its last code
  std::vector<std::int32_t> text_labels, code_labels;  // [texts, text positions], [texts, cells]
};

/// Appends a text and an image's codes to a batch. Throws the same errors as TextToImageModel::Prompt, and throws Error
/// for a code that the model does not have.
HEADLIGHT_API void AppendTextAndCodes(const TextToImageModel& model, std::span<const std::int32_t> text,
                                      std::span<const std::int32_t> codes, TextToImageBatch& batch);

/// Returns the loss, [1]: `scale` times the sum over the texts of (text + 7 * image) / 8 (section 2.2). Here, `text` is
/// the mean cross-entropy of a text's tokens, including padding, and `image` is the mean cross-entropy of an image's
/// codes.
HEADLIGHT_API Tensor TextToImageLoss(const TextToImageModel& model, Context& context, const TextToImageBatch& batch,
                                     double scale);

/// Trains with TextToImageLoss. For classifier-free guidance, a fraction of the images in each epoch has no text (Ho
/// and Salimans, "Classifier-Free Diffusion Guidance", 2022, algorithm 1; TextToImageOptions::guidance). Validations
/// report the two means as text_loss and image_loss. Throws Error if there are no pairs, or if they do not fit the
/// model.
HEADLIGHT_API TrainingTask TextToImageTask(TextToImageModel& model, const ImageCodeSets& pairs,
                                           const BatchOptions& batches, double drop_text = 0);

HEADLIGHT_API ValidationReport ValidateTextToImage(const TextToImageModel& model, const ImageCodesWithTexts& valid,
                                                   const PassWatch& watch = {});

}  // namespace headlight

// From a text to the codes of an image (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/train/training_task.h"

namespace headlight {

// Images in a coder's codes, each with its texts' ids; one of the texts is drawn in each epoch.
struct DrawnTexts {
  std::int64_t cells = 0;                                          // of an image
  std::vector<std::int32_t> codes = {};                            // [images, cells]
  std::vector<std::vector<std::vector<std::int32_t>>> texts = {};  // [images][texts]: at least one

  std::int64_t count() const { return std::ssize(texts); }
};

// The drawn texts of a training and of its validations. They must outlive the task.
struct DrawnTextSets {
  DrawnTexts train, valid;
};

// Pairs of a batch, as the model reads them.
struct DrawingBatch {
  std::vector<std::int32_t> ids;                       // [texts, all of a sequence but its last code]
  std::vector<std::int32_t> text_labels, code_labels;  // [texts, text positions], [texts, cells]
};

// Adds a text and an image's codes to the end of a batch. Throws Error as TextToImageModel::Prompt and for a code that
// the model does not have.
HEADLIGHT_API void AppendDrawing(const TextToImageModel& model, std::span<const std::int32_t> text,
                                 std::span<const std::int32_t> codes, DrawingBatch& batch);

// [1]: scale times the sum over the texts of (text + 7 * image) / 8 (section 2.2), the mean cross-entropies of a
// text's tokens, padding among them, and of an image's codes.
HEADLIGHT_API Tensor DrawingLoss(const TextToImageModel& model, Context& context, const DrawingBatch& batch,
                                 double scale);

// That loss, where a share of the images of each epoch is learned without a text, for TextToImageOptions::guidance (Ho
// and Salimans, "Classifier-Free Diffusion Guidance", 2022, algorithm 1). A report has text_loss and image_loss, the
// two means. Throws Error where there are no pairs, and where they do not fit the model.
HEADLIGHT_API TrainingTask TextToImageTask(TextToImageModel& model, const DrawnTextSets& pairs,
                                           const BatchOptions& batches, double drop_text = 0);

HEADLIGHT_API ValidationReport ValidateTextToImage(const TextToImageModel& model, const DrawnTexts& valid,
                                                   const PassWatch& watch = {});

}  // namespace headlight

// From a text to the codes of a picture (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/kinds/drawing_model.h"
#include "headlight/train/training_task.h"

namespace headlight {

// Pictures in a coder's codes, each with its texts' ids; one of the texts is drawn in each epoch.
struct DrawnTexts {
  std::int64_t cells = 0;                                          // of a picture
  std::vector<std::int32_t> codes = {};                            // [pictures, cells]
  std::vector<std::vector<std::vector<std::int32_t>>> texts = {};  // [pictures][texts]: at least one

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

// Adds a text and a picture's codes to the end of a batch. Throws Error as DrawingModel::Prompt and for a code that the
// model does not have.
HEADLIGHT_API void AppendDrawing(const DrawingModel& model, std::span<const std::int32_t> text,
                                 std::span<const std::int32_t> codes, DrawingBatch& batch);

// [1]: scale times the sum over the texts of (text + 7 * picture) / 8 (section 2.2), the mean cross-entropies of a
// text's tokens, padding among them, and of a picture's codes.
HEADLIGHT_API Tensor DrawingLoss(const DrawingModel& model, Context& context, const DrawingBatch& batch, double scale);

// That loss, where a share of the pictures of each epoch is learned without a text, for DrawOptions::guidance (Ho and
// Salimans, "Classifier-Free Diffusion Guidance", 2022, algorithm 1). A report has text_loss and picture_loss, the two
// means. Throws Error where there are no pairs, and where they do not fit the model.
HEADLIGHT_API TrainingTask TextToPictureTask(DrawingModel& model, const DrawnTextSets& pairs,
                                             const BatchOptions& batches, double drop_text = 0);

HEADLIGHT_API ValidationReport ValidateTextToPicture(const DrawingModel& model, const DrawnTexts& valid,
                                                     const PassWatch& watch = {});

}  // namespace headlight

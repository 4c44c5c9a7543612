// Trains an image classifier.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/recipes/image_augmentation.h"
#include "headlight/recipes/image_training.h"
#include "headlight/train/objectives/image_classification.h"

namespace headlight {

struct ImageClassifierTraining : ImageTraining {
  ImageAugmentation augmentation;
  std::string preset;  ///< small-images or small-gray-images
  std::optional<double> label_smoothing;
  /// Called with the list of images before the first image is decoded. May be empty.
  std::function<void(const std::vector<ImageSource>& sources)> sources = {};
  /// Called with the first batch before training. May be empty.
  std::function<void(const ImageBatch& batch, const ImageProcessor& processor, const std::vector<std::string>& labels)>
      first_batch = {};
};

HEADLIGHT_API void Describe(OptionTable& table, ImageClassifierTraining& options);

/// Trains a model, and saves its folder. A model from scratch is a ViT or a ResNet. If the model has no head for the
/// classes, a new head is created. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainImageClassifier(ImageClassifierTraining options, const TrainingObserver& observer);

}  // namespace headlight

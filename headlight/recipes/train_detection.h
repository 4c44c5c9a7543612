// Trains an object detector.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/processor.h"
#include "headlight/recipes/model_training.h"
#include "headlight/train/objectives/detection.h"

namespace headlight {

/// The options of detector training. The defaults are from DETR's paper (Carion et al., 2020).
struct DetectionTraining : ModelTraining {
  enum class Backbone { small, resnet18, resnet34, resnet50 };

  std::string preset;                       ///< small-scenes
  std::vector<std::string> images;          ///< folders of the images, unless they are next to the annotation files
  std::optional<std::int64_t> image_size;   ///< pixels of the shorter side [800, or as in the model to fine-tune]
  std::optional<BoxAugmentation> augment;   ///< [scale]
  std::optional<double> cell_loss;          ///< weight of an auxiliary loss at the encoder's cells [0]
  std::optional<Backbone> backbone;         ///< for a model from scratch [resnet50]
  std::optional<std::int64_t> num_queries;  ///< number of object queries [100, or as in the model to fine-tune]
  bool skip_errors = false;                 ///< if true, skips damaged images
  std::int64_t most_pixels = kMostPixels;
  /// Called with the list of image files before the first image is decoded. May be empty.
  std::function<void(const std::vector<std::string>& files)> sources = {};
  /// Called with the first batch before training. May be empty.
  std::function<void(const DetectionPart& batch, const ImageProcessor& processor,
                     const std::vector<std::string>& labels)>
      first_batch = {};
};

HEADLIGHT_API void Describe(OptionTable& table, DetectionTraining& options);

/// Trains a DETR, and saves a model folder. If the model to fine-tune has other classes, a new classification head is
/// created. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainDetection(DetectionTraining options, const TrainingObserver& observer);

}  // namespace headlight

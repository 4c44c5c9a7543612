// Training an encoder of images without labels, by DINO.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/augment.h"
#include "headlight/recipes/image_training.h"
#include "headlight/train/objectives/self_distillation.h"

namespace headlight {

/// DINO's own (Caron et al., 2021, section 3.2), but for the prototypes: the paper's 65,536 are for a million images.
struct SelfDistillationTraining : ImageTraining {
  SelfDistillationTraining() { distillation.head.prototypes = 4096; }

  SelfDistillationOptions distillation;                ///< without its batches and drop path
  MultiCrop crops{.global_size = 0, .local_size = 0};  ///< 0: by the model
  std::optional<double> final_weight_decay;            ///< at the end, by a cosine schedule [0.4]
  double clip_parameter_norm = 3;                      ///< of each parameter's gradient; 0: none
  std::vector<std::string> labelled;                   ///< labelled images, for the k-NN accuracy of validations
  /// Called with the images that are read, before any is decoded; may be empty.
  std::function<void(const std::vector<ImageSource>& sources)> sources = {};
  /// Called with the images' crops, before the training; may be empty.
  std::function<void(const DistilledImages& images, const std::function<std::string(std::int64_t)>& name_of,
                     const ImageProcessor& processor)>
      first_images = {};
};

HEADLIGHT_API void Describe(OptionTable& table, SelfDistillationTraining& options);

/// Trains, from scratch a ViT or a ResNet, and saves the teacher's model folder. Throws Error if a file or an option is
/// wrong.
HEADLIGHT_API TrainingResult TrainSelfDistillation(SelfDistillationTraining options, const TrainingObserver& observer);

}  // namespace headlight

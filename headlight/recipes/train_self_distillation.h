// Trains an image encoder without labels, by DINO.
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

/// The settings of DINO (Caron et al., 2021, section 3.2), except the number of prototypes. The paper uses 65,536
/// prototypes for a million images.
struct SelfDistillationTraining : ImageTraining {
  SelfDistillationTraining() { distillation.head.prototypes = 4096; }

  SelfDistillationOptions distillation;                ///< batches and drop path are not used
  MultiCrop crops{.global_size = 0, .local_size = 0};  ///< 0: chosen for the model
  std::optional<double> final_weight_decay;            ///< weight decay at the end of a cosine schedule [0.4]
  double clip_parameter_norm = 3;                      ///< clips each parameter's gradient to this norm; 0: no clipping
  std::vector<std::string> labeled;                    ///< labeled images, for k-NN accuracy in validation
  /// Called with the list of images before the first image is decoded. May be empty.
  std::function<void(const std::vector<ImageSource>& sources)> sources = {};
  /// Called with the crops of some images before training. May be empty.
  std::function<void(const DistilledImages& images, const std::function<std::string(std::int64_t)>& name_of,
                     const ImageProcessor& processor)>
      first_images = {};
};

HEADLIGHT_API void Describe(OptionTable& table, SelfDistillationTraining& options);

/// Trains a model, and saves the teacher's folder. A model from scratch is a ViT or a ResNet. Throws Error if a file or
/// an option is wrong.
HEADLIGHT_API TrainingResult TrainSelfDistillation(SelfDistillationTraining options, const TrainingObserver& observer);

}  // namespace headlight

// Self-distillation without labels, DINO (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers",
// 2021): a student that sees crops of an image is trained to predict the output of its teacher, a moving average of
// the student, for the large ones.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/train/objectives/distillation_head.h"
#include "headlight/train/training_task.h"

namespace headlight {

// Images to learn from, or to validate on. The functions give the same for the same numbers, and may be called from
// several threads at once.
struct DistilledImages {
  std::int64_t count = 0;
  // The crops [height, width, channels] of an image in an epoch, the two global ones first.
  std::function<std::vector<Tensor>(std::int64_t image, std::int64_t epoch)> crops;
  // To validate on: the whole image, and where they have classes, each one's.
  std::function<Tensor(std::int64_t image)> whole = {};
  std::vector<std::int32_t> classes = {};
};

struct SelfDistillationOptions {
  DistillationHeadConfig head;
  double student_temperature = 0.1;
  double teacher_temperature = 0.04;        // at the end of its warm-up
  double first_teacher_temperature = 0.04;  // from where it rises linearly
  std::int64_t warmup_epochs = 0;           // of the teacher's temperature
  double centre_momentum = 0.9;
  double teacher_momentum = 0.996;  // at the start; a cosine leads to 1 at the end, where that is known
  std::int64_t frozen_epochs = 1;   // at the start, in which the prototypes do not learn
  double drop_path = 0.1;           // of the student (TrainingPass::drop_path)
  BatchOptions batches = {};        // its size is in images
};

// Throws Error naming the option and the rule.
HEADLIGHT_API void CheckSelfDistillation(const SelfDistillationOptions& options);

// The student, whose parameters gain a head, and its teacher, which begins as it does and is the model that is kept.
class HEADLIGHT_API SelfDistillation {
 public:
  // Two encoders of the same sizes, whose parameters have values. They must outlive this.
  SelfDistillation(ImageEncoder& student, ImageEncoder& teacher, const SelfDistillationOptions& options);

  // A validation's loss is that of the images' crops of epoch 0. Where the images to validate on have classes its
  // score is "knn_accuracy": of each by its nearest neighbours among the others, in the teacher's features. Without
  // that the last model is the best. The task refers to this.
  TrainingTask Task(const DistilledImages& train, const DistilledImages& valid);

 private:
  struct Part;

  static Part PartOf(std::span<const std::vector<Tensor>> crops, std::int64_t epoch);
  Tensor Loss(Context& context, const Part& part, double scale, double teacher_temperature, bool learns);
  Tensor TeacherTargets(const Part& part, double temperature, bool learns);
  double TeacherTemperature(std::int64_t epoch) const;
  void AfterStep(std::int64_t step, std::int64_t steps);
  ValidationReport Validate(const DistilledImages& valid, const PassWatch& watch);

  ImageEncoder &student_, &teacher_;
  SelfDistillationOptions options_;
  DistillationHead student_head_, teacher_head_;
  Tensor centre_;   // [prototypes]: a moving average of the teacher's outputs
  Tensor outputs_;  // float64, [prototypes + 1]: their sum over a step's parts, and of how many rows it is
};

}  // namespace headlight

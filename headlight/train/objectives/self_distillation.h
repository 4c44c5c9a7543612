// Self-distillation without labels, DINO (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers",
// 2021). A student sees crops of an image and is trained to predict the teacher's output for the large crops. The
// teacher is a moving average of the student.
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

/// The images of a training or a validation. The functions must be deterministic and thread-safe.
struct DistilledImages {
  std::int64_t count = 0;
  /// The crops [height, width, channels] of an image in an epoch, the two global ones first.
  std::function<std::vector<Tensor>(std::int64_t image, std::int64_t epoch)> crops;
  /// For validation: the whole image, and its class if there are classes.
  std::function<Tensor(std::int64_t image)> whole = {};
  std::vector<std::int32_t> classes = {};
};

struct SelfDistillationOptions {
  DistillationHeadConfig head;
  double student_temperature = 0.1;
  double teacher_temperature = 0.04;        // after the warm-up
  double first_teacher_temperature = 0.04;  // at the start of the linear warm-up
  std::int64_t warmup_epochs = 0;           // of the teacher's temperature
  double centre_momentum = 0.9;
  double teacher_momentum = 0.996;  // at the start; increases by a cosine to 1 at the end, if the end is known
  std::int64_t frozen_epochs = 1;   // first epochs in which the prototypes are not trained
  double drop_path = 0.1;           // of the student (TrainingPass::drop_path)
  BatchOptions batches = {};        // batch_size is in images
};

/// Throws Error naming the option and its range.
HEADLIGHT_API void CheckSelfDistillation(const SelfDistillationOptions& options);

/// The student, whose parameters gain a head, and its teacher, which starts as a copy and is the model that is kept.
class HEADLIGHT_API SelfDistillation {
 public:
  /// Takes two initialized encoders of the same configuration, which must outlive this object.
  SelfDistillation(ImageEncoder& student, ImageEncoder& teacher, const SelfDistillationOptions& options);

  /// A validation's loss is that of the images' crops of epoch 0. If the validation images have classes, the score is
  /// "knn_accuracy": leave-one-out k-nearest-neighbour accuracy on the teacher's features. Otherwise the last model
  /// counts as the best. The task refers to this object.
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
  Tensor outputs_;  // float64, [prototypes + 1]: sum of outputs over a step's parts, then the number of rows
};

}  // namespace headlight

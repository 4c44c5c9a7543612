// DINO, self-distillation without labels (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers",
// 2021). A student is trained on crops of an image to predict the teacher's output for other, large crops of the same
// image. The teacher's weights are a moving average of the student's weights.
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

/// The training or validation images. The functions must be deterministic and thread-safe.
struct DistilledImages {
  std::int64_t count = 0;
  /// Returns the crops [height, width, channels] of an image in an epoch. The two global crops come first.
  std::function<std::vector<Tensor>(std::int64_t image, std::int64_t epoch)> crops;
  /// For validation: returns the whole image. `classes` are the images' classes, or empty.
  std::function<Tensor(std::int64_t image)> whole = {};
  std::vector<std::int32_t> classes = {};
};

struct SelfDistillationOptions {
  DistillationHeadConfig head;
  double student_temperature = 0.1;
  double teacher_temperature = 0.04;        // temperature after the warm-up
  double first_teacher_temperature = 0.04;  // temperature at the start of the linear warm-up
  std::int64_t warmup_epochs = 0;           // length of the temperature's warm-up
  double center_momentum = 0.9;
  /// The momentum at the start. If the number of steps is known, the momentum increases along a cosine to 1 at the end.
  double teacher_momentum = 0.996;
  std::int64_t frozen_epochs = 1;  // the prototypes are not trained in this many first epochs
  double drop_path = 0.1;          // TrainingPass::drop_path of the student
  BatchOptions batches = {};       // batch_size counts images
};

/// Throws Error if an option is out of range. The message names the option and its range.
HEADLIGHT_API void CheckSelfDistillation(const SelfDistillationOptions& options);

/// A student and its teacher. A head is added to the student's parameters. The teacher starts as a copy of the student.
/// The teacher is saved as the trained model.
class HEADLIGHT_API SelfDistillation {
 public:
  /// Takes two initialized encoders of the same configuration, which must outlive this object.
  SelfDistillation(ImageEncoder& student, ImageEncoder& teacher, const SelfDistillationOptions& options);

  /// Returns the training task, which refers to this object. A validation's loss is computed on the crops of epoch 0.
  /// If the validation images have classes, the score is "knn_accuracy": leave-one-out k-nearest-neighbor accuracy on
  /// the teacher's features. Otherwise the last model counts as the best.
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
  Tensor center_;  // [prototypes]: a moving average of the teacher's outputs
  // The sum of the teacher's outputs over a step's parts, followed by the number of rows. float64, [prototypes + 1].
  Tensor outputs_;
};

}  // namespace headlight

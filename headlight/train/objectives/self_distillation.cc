#include "headlight/train/objectives/self_distillation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/softmax.h"
#include "headlight/ops/distillation_loss.h"
#include "headlight/train/feature_scores.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

constexpr std::int32_t kGlobalCrops = 2;
// Limit on the tokens of a micro-batch. A higher limit would need more memory and would not be faster.
constexpr std::int64_t kViewPatchesOfPart = 4096;
constexpr std::int64_t kNeighbors = 20;

Tensor FeaturesOf(const ImageEncoder& encoder, Context& context, std::span<const Tensor> images) {
  return encoder.Features(encoder.Encode(context, images));
}

// Returns the number of images in a micro-batch if each image has crops of these sizes.
std::int64_t ImagesOfPart(const ImageEncoder::Limits& limits, std::span<const Tensor> crops, std::int64_t images) {
  if (limits.batch_statistics) return images;
  std::int64_t tokens = 0;
  for (const Tensor& crop : crops) tokens += limits.special + GridOf(crop, limits.patch).cells();
  return std::max<std::int64_t>(1, kViewPatchesOfPart / std::max<std::int64_t>(1, tokens));
}

}  // namespace

// Crop c of image p is crops[c * images + p]. The global crops are first.
struct SelfDistillation::Part {
  std::int32_t images = 0;
  std::vector<Tensor> crops;
  std::int64_t epoch = 0;

  std::int32_t crops_of_each() const { return static_cast<std::int32_t>(crops.size()) / images; }
  std::span<const Tensor> global() const {
    return std::span(crops).first(static_cast<std::size_t>(kGlobalCrops) * static_cast<std::size_t>(images));
  }
};

void CheckSelfDistillation(const SelfDistillationOptions& options) {
  const DistillationHeadConfig& head = options.head;
  Check(head.hidden >= 1 && head.bottleneck >= 1 && head.prototypes >= 2,
        "a head needs at least 1 hidden unit, a bottleneck of 1 and 2 prototypes, not {}, {} and {}", head.hidden,
        head.bottleneck, head.prototypes);
  Check(options.student_temperature > 0 && options.teacher_temperature > 0 && options.first_teacher_temperature > 0,
        "temperatures must be above 0");
  Check(options.teacher_momentum >= 0 && options.teacher_momentum < 1 && options.center_momentum >= 0 &&
            options.center_momentum < 1,
        "momenta must be at least 0 and below 1");
}

namespace {

const SelfDistillationOptions& Checked(const SelfDistillationOptions& options) {
  CheckSelfDistillation(options);
  return options;
}

}  // namespace

SelfDistillation::SelfDistillation(ImageEncoder& student, ImageEncoder& teacher, const SelfDistillationOptions& options)
    : student_(student),
      teacher_(teacher),
      options_(Checked(options)),
      student_head_(student.parameters(), student.limits().model, options.head),
      teacher_head_(teacher.parameters(), teacher.limits().model, options.head),
      center_(Tensor::Zeros({options.head.prototypes}, student.parameters().dtype())),
      outputs_(Tensor::Zeros({options.head.prototypes + 1}, DType::float64)) {
  for (ImageEncoder* model : {&student, &teacher}) model->parameters().InitializeNew(options.batches.seed);
  teacher.parameters().Unpack();  // the packed weights would be outdated
}

// Makes a part from the crops of each image.
SelfDistillation::Part SelfDistillation::PartOf(std::span<const std::vector<Tensor>> crops, std::int64_t epoch) {
  Part part{static_cast<std::int32_t>(crops.size()), {}, epoch};
  for (std::size_t c = 0; c < crops.front().size(); ++c)
    for (const std::vector<Tensor>& of_image : crops) part.crops.push_back(of_image.at(c));
  return part;
}

double SelfDistillation::TeacherTemperature(std::int64_t epoch) const {
  const double done =
      epoch >= options_.warmup_epochs ? 1 : static_cast<double>(epoch) / static_cast<double>(options_.warmup_epochs);
  return options_.first_teacher_temperature +
         done * (options_.teacher_temperature - options_.first_teacher_temperature);
}

// Returns the teacher's outputs for the global crops, centered and sharpened: softmax((outputs - center) / temperature)
// (section 3.1, "Avoiding collapse"). If `learns` is set, the outputs also update the next center.
Tensor SelfDistillation::TeacherTargets(const Part& part, double temperature, bool learns) {
  Context context;
  // As in DINO's code, the teacher's batch norm also uses the statistics of the batch. The teacher's running averages
  // are averages of the student's running averages.
  std::vector<BatchStatistic> unused;
  if (learns && teacher_.limits().batch_statistics) context.training = {.statistics = &unused};
  const Tensor outputs = teacher_head_(context, FeaturesOf(teacher_, context, part.global()));
  Dispatch(outputs.dtype(), [&]<typename T>(T) {
    const Matrix<T> all = outputs.matrix<T>();
    const T* const center = center_.data<T>();
    for (std::int64_t row = 0; row < all.rows; ++row) {
      T* const numbers = all.row(row);
      for (std::int64_t k = 0; k < all.columns; ++k) {
        if (learns) outputs_.data<double>()[k] += static_cast<double>(numbers[k]);
        numbers[k] = (numbers[k] - center[k]) / static_cast<T>(temperature);
      }
    }
    kernels::SoftmaxRows<T>(all, all);
  });
  if (learns) outputs_.data<double>()[options_.head.prototypes] += static_cast<double>(outputs.rows());
  return outputs;
}

Tensor SelfDistillation::Loss(Context& context, const Part& part, double scale, double teacher_temperature,
                              bool learns) {
  const Tensor targets = TeacherTargets(part, teacher_temperature, learns);
  if (context.training) context.training->drop_path = options_.drop_path;
  const Tensor outputs = student_head_(context, FeaturesOf(student_, context, part.crops),
                                       /*prototypes_learn=*/part.epoch >= options_.frozen_epochs);
  // The targets of a crop are the teacher's outputs for all global crops except the crop itself (eq. 3).
  std::vector<ops::DistillationPair> pairs;
  for (std::int32_t crop = 0; crop < part.crops_of_each(); ++crop)
    for (std::int32_t global = 0; global < kGlobalCrops; ++global)
      for (std::int32_t image = 0; crop != global && image < part.images; ++image)
        pairs.push_back({crop * part.images + image, global * part.images + image});
  const double of_image = static_cast<double>(pairs.size()) / part.images;
  return ops::DistillationLoss(outputs, targets, pairs, options_.student_temperature, scale / of_image);
}

// Updates the teacher's weights and the center.
void SelfDistillation::AfterStep(std::int64_t step, std::int64_t steps) {
  double momentum = options_.teacher_momentum;
  if (steps > 0) {
    const double done = std::min(1.0, static_cast<double>(step) / static_cast<double>(steps));
    momentum = 1 - (1 - momentum) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  Dispatch(center_.dtype(), [&]<typename T>(T) {
    const auto kept = static_cast<T>(momentum), fresh = static_cast<T>(1 - momentum);
    const std::deque<Parameter>& from = student_.parameters().all();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::span<T> average = teacher_.parameters().all()[i].value.template span<T>();
      const std::span<T> values = from[i].value.template span<T>();
      for (std::size_t j = 0; j < average.size(); ++j) average[j] = kept * average[j] + fresh * values[j];
    }
    T* const center = center_.data<T>();
    const double* const outputs = outputs_.data<double>();
    const std::int64_t prototypes = options_.head.prototypes;
    for (std::int64_t k = 0; k < prototypes; ++k)
      center[k] = static_cast<T>(options_.center_momentum * static_cast<double>(center[k]) +
                                 (1 - options_.center_momentum) * outputs[k] / outputs[prototypes]);
  });
}

ValidationReport SelfDistillation::Validate(const DistilledImages& valid, const PassWatch& watch) {
  constexpr std::int64_t at_once = 64;
  ValidationReport report;
  std::vector<float> features;  // [images, state]
  const auto blocks = SharedBlocks(watch, valid.count, at_once, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    std::vector<std::vector<Tensor>> crops(static_cast<std::size_t>(count));
    std::vector<Tensor> whole(valid.classes.empty() ? 0 : crops.size());
    ParallelFor(count, [&](std::int64_t i) {
      crops[static_cast<std::size_t>(i)] = valid.crops(begin + i, 0);
      if (!whole.empty()) whole[static_cast<std::size_t>(i)] = valid.whole(begin + i);
    });
    std::vector<double> numbers = {0};  // the loss, followed by the features
    const auto most = static_cast<std::size_t>(ImagesOfPart(student_.limits(), crops.front(), count));
    for (std::size_t first = 0; first < crops.size(); first += most) {
      const Part part = PartOf(std::span(crops).subspan(first, std::min(most, crops.size() - first)), /*epoch=*/0);
      Context context;
      numbers[0] +=
          static_cast<double>(Loss(context, part, 1, options_.teacher_temperature, /*learns=*/false).data<float>()[0]);
    }
    if (whole.empty()) return numbers;
    Context context;
    const std::vector<float> own = FeaturesOf(teacher_, context, whole).ToVector<float>();
    numbers.insert(numbers.end(), own.begin(), own.end());
    return numbers;
  });
  for (const std::vector<double>& block : blocks) {
    report.loss += block[0];
    for (const double number : std::span(block).subspan(1)) features.push_back(static_cast<float>(number));
  }
  report.labels = valid.count;
  report.loss /= static_cast<double>(valid.count);
  if (valid.classes.empty()) return report;
  report.score_name = "knn_accuracy";
  const Tensor rows = Tensor::From<float>(features, {valid.count, std::ssize(features) / valid.count});
  report.score = NeighborAccuracy({rows, valid.classes}, kNeighbors);
  return report;
}

TrainingTask SelfDistillation::Task(const DistilledImages& train, const DistilledImages& valid) {
  Check(train.count >= 1 && valid.count >= 1, "there are no images to {}",
        train.count < 1 ? "train on" : "validate on");
  Check(valid.classes.empty() || std::ssize(valid.classes) == valid.count, "{} images have {} classes", valid.count,
        valid.classes.size());
  TrainingTask task;
  task.model = &student_;
  task.batches = PreparedBatches(train.count, options_.batches, [this, train](const BatchPlan& plan) {
    TrainingBatch batch{.parts = {}, .labels = std::ssize(plan.examples), .next = {}, .batches_in_epoch = 0};
    const std::int64_t epoch = plan.position.epoch;
    const std::vector<Tensor> first = train.crops(plan.examples.front(), epoch);  // only used for the crops' sizes
    const auto most = static_cast<std::size_t>(ImagesOfPart(student_.limits(), first, batch.labels));
    for (std::size_t begin = 0; begin < plan.examples.size(); begin += most) {
      const std::size_t end = std::min(plan.examples.size(), begin + most);
      batch.parts.emplace_back(
          TrainingPart::Later([train, epoch,
                               own = std::vector(plan.examples.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 plan.examples.begin() + static_cast<std::ptrdiff_t>(end))] {
            std::vector<std::vector<Tensor>> crops;
            for (const std::uint32_t image : own) crops.push_back(train.crops(image, epoch));
            return PartOf(crops, epoch);
          }));
    }
    return batch;
  });
  task.loss = [this](Context& context, const TrainingPart& any, double scale) {
    const Part& part = any.As<Part>();
    return Loss(context, part, scale, TeacherTemperature(part.epoch), /*learns=*/true);
  };
  task.validate = [this, valid](const PassWatch& watch) { return Validate(valid, watch); };
  task.after_step = [this](std::int64_t step, std::int64_t steps) { AfterStep(step, steps); };
  task.part_sums = outputs_;
  task.state = {{"teacher", teacher_.parameters().state()}, {"centre", center_}};
  if (valid.classes.empty())
    task.last_is_best = true;
  else
    task.scores = {"knn_accuracy"};
  return task;
}

}  // namespace headlight

#include "headlight/train/tasks/image_classification.h"

#include <algorithm>
#include <any>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/soft_cross_entropy.h"
#include "headlight/text/metrics/class_scores.h"
#include "headlight/train/shared_pass.h"
#include "headlight/train/tasks/encoder_task.h"
#include "headlight/train/tasks/prepared_batches.h"

namespace headlight {
namespace {

// Rows of the model whose activations exist at the same time: more makes no product faster, but takes more memory.
constexpr std::int64_t kPatchesOfPart = 2560;

std::vector<Tensor> PicturesOf(const Tensor& values) {
  const Shape& shape = values.shape();
  std::vector<Tensor> pictures;
  for (std::int64_t i = 0; i < shape[0]; ++i)
    pictures.push_back(values.ViewRows(i, 1).ViewAs({shape[1], shape[2], shape[3]}));
  return pictures;
}

Tensor LogitsOf(const PictureEncoder& model, Context& context, const Tensor& values) {
  return model.ClassLogits(context, model.Encode(context, PicturesOf(values)));
}

void CheckClasses(const PictureEncoder& model, const PictureSet& pictures, const char* purpose) {
  const auto classes = static_cast<std::int32_t>(model.labels().size());
  Check(classes > 0, "the model has no head for classes of pictures");
  Check(pictures.size() > 0, "there is no picture to {}", purpose);
  Check(pictures.labelled(), "the pictures to {} have no classes", purpose);
  for (std::int64_t i = 0; i < pictures.size(); ++i)
    Check(pictures.label(i) >= 0 && pictures.label(i) < classes, "{}: it must have one of {} classes", pictures.name(i),
          classes);
}

// The batch of a plan.
class ImagePreparation {
 public:
  ImagePreparation(const PictureEncoder& model, const PictureProcessor& processor, const PictureSet& pictures,
                   const ImageClassificationOptions& options)
      : model_(model), processor_(processor), pictures_(pictures), options_(options) {
    options_.augmentation.size = FixedSize(processor);
  }

  TrainingBatch operator()(const BatchPlan& plan) const {
    const auto count = std::ssize(plan.examples);
    TrainingBatch batch;
    batch.labels = count;
    const std::int64_t of_part = PicturesOfPart(model_.limits(), options_.augmentation.size, count);
    for (std::int64_t begin = 0; begin < count; begin += of_part)
      batch.parts.emplace_back(MakePart(
          [self = *this, plan, begin, end = std::min(begin + of_part, count)] { return self.Part(plan, begin, end); }));
    return batch;
  }

 private:
  // The pictures from `begin` to before `end` of a batch.
  PictureBatch Part(const BatchPlan& plan, std::int64_t begin, std::int64_t end) const {
    const PictureSize size = options_.augmentation.size;
    const auto all = std::ssize(plan.examples), classes = std::ssize(model_.labels());
    // Each is mixed with the one before it, the first with the batch's last.
    const bool mixes = options_.mix.mixup > 0 || options_.mix.cutmix > 0;
    const std::int64_t more = mixes && end - begin < all ? 1 : 0, count = end - begin + more;
    const Tensor values = Tensor::Empty({count, size.height, size.width, 3}), targets = Tensor::Empty({count, classes});
    const double smoothing = options_.label_smoothing;
    targets.Fill(smoothing / static_cast<double>(classes));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t example = plan.examples[static_cast<std::size_t>((begin - more + i + all) % all)];
      Random random = RandomOfExample(options_.batches.seed, plan.place.epoch, example);
      const Picture picture = Augment(pictures_[example], options_.augmentation, random);
      const Tensor own = processor_.Values(picture);
      EraseAtRandom(own, options_.erasing, random);
      values.ViewRows(i, 1).ViewAs(own.shape()).CopyFrom(own);
      targets.matrix<float>().row(i)[pictures_.label(example)] += static_cast<float>(1 - smoothing);
    }
    // The batch's own stream: that of an example that there is not.
    Random random = RandomOfExample(options_.batches.seed, plan.place.epoch, -1 - plan.place.batch);
    Mix(values, targets, options_.mix, random);
    return {values.ViewRows(more, end - begin), targets.ViewRows(more, end - begin)};
  }

  const PictureEncoder& model_;
  PictureProcessor processor_;
  const PictureSet& pictures_;
  ImageClassificationOptions options_;
};

}  // namespace

PictureSize FixedSize(const PictureProcessor& processor) {
  if (processor.crop) return *processor.crop;
  const ResizeRule& rule = processor.resize;
  if (rule.kind == ResizeRule::Kind::exact) return rule.size;
  Check(rule.kind == ResizeRule::Kind::cropped,
        "the model's preprocessor_config.json gives pictures of sizes that depend on the picture; for this training it "
        "must give one size");
  return {rule.edge, rule.edge};
}

std::int64_t PicturesOfPart(const PictureEncoder::Limits& limits, PictureSize size, std::int64_t pictures) {
  if (limits.batch_statistics) return pictures;
  const std::int64_t tokens = limits.special + size.height / limits.patch.height * (size.width / limits.patch.width);
  const std::int64_t parts = std::max<std::int64_t>(1, (pictures * tokens + kPatchesOfPart / 2) / kPatchesOfPart);
  return (pictures + parts - 1) / parts;
}

ValidationReport ValidateImageClasses(const PictureEncoder& model, const PictureProcessor& processor,
                                      const PictureSet& valid, const PassWatch& watch) {
  CheckClasses(model, valid, "validate on");
  const PictureSize size = FixedSize(processor);
  constexpr std::int64_t most = 64;
  const std::int64_t of_part = std::min(most, PicturesOfPart(model.limits(), size, std::int64_t{1} << 20));
  ClassScores scores(model.labels().size());
  double loss = 0;
  std::int64_t next = 0;
  const auto blocks = SharedBlocks(watch, valid.size(), of_part, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    const Tensor values = Tensor::Empty({count, size.height, size.width, 3});
    std::vector<std::int32_t> labels;
    for (std::int64_t i = begin; i < end; ++i) labels.push_back(valid.label(i));
    ParallelFor(count, [&](std::int64_t i) {
      const Tensor own = processor.Values(processor.Fit(valid[begin + i]));
      values.ViewRows(i, 1).ViewAs(own.shape()).CopyFrom(own);
    });
    Context context;
    const Tensor logits = LogitsOf(model, context, values);
    std::vector<double> numbers = LargestOfRows(logits);
    numbers.push_back(static_cast<double>(ops::CrossEntropy(logits, labels, 1).data<float>()[0]));
    return numbers;
  });
  for (const std::vector<double>& block : blocks) {
    loss += block.back();
    for (const double found : std::span(block).first(block.size() - 1))
      scores.Add(valid.label(next++), static_cast<std::int32_t>(found));
  }
  ValidationReport report = LossReport(loss, valid.size());
  report.score_name = "accuracy";
  report.score = 100 * scores.accuracy();
  report.more_scores = {{"macro_f1", 100 * scores.macro_f1()}};
  report.classes = ClassesOf(model.labels(), scores);
  return report;
}

TrainingTask ImageClassificationTask(PictureEncoder& model, const PictureProcessor& processor, const PictureSet& train,
                                     const PictureSet& valid, const ImageClassificationOptions& options) {
  CheckClasses(model, train, "learn from");
  CheckClasses(model, valid, "validate on");
  return {.model = &model,
          .batches = PreparedBatches(train.size(), options.batches, ImagePreparation(model, processor, train, options)),
          .loss =
              [&model, drop_path = options.drop_path](Context& context, const std::any& part, double scale) {
                const auto& [values, targets] = std::any_cast<const PictureBatch&>(part);
                if (context.training) context.training->drop_path = drop_path;
                return ops::SoftCrossEntropy(LogitsOf(model, context, values), targets, scale);
              },
          .validate = [&model, processor,
                       &valid](const PassWatch& watch) { return ValidateImageClasses(model, processor, valid, watch); },
          .scores = {"accuracy", "macro_f1"},
          .makes_parts = true};
}

}  // namespace headlight

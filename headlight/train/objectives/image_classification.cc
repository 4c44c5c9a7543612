#include "headlight/train/objectives/image_classification.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/soft_cross_entropy.h"
#include "headlight/text/metrics/class_scores.h"
#include "headlight/train/objectives/encoder_task.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Limit on the encoder rows of a micro-batch. A higher limit would need more memory and would not be faster.
constexpr std::int64_t kPatchesOfPart = 2560;

std::vector<Tensor> ImagesOf(const Tensor& values) {
  const Shape& shape = values.shape();
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < shape[0]; ++i)
    images.push_back(values.ViewRows(i, 1).ViewAs({shape[1], shape[2], shape[3]}));
  return images;
}

Tensor LogitsOf(const ImageEncoder& model, Context& context, const Tensor& values) {
  return model.ClassLogits(context, model.Encode(context, ImagesOf(values)));
}

void CheckClasses(const ImageEncoder& model, const ImageSet& images, const char* purpose) {
  const auto classes = static_cast<std::int32_t>(model.labels().size());
  Check(classes > 0, "the model has no head for classes of images");
  Check(images.size() > 0, "there is no image to {}", purpose);
  Check(images.labeled(), "the images to {} have no classes", purpose);
  for (std::int64_t i = 0; i < images.size(); ++i)
    Check(images.label(i) >= 0 && images.label(i) < classes, "{}: it must have one of {} classes", images.name(i),
          classes);
}

// Prepares the batch for a plan.
class ImagePreparation {
 public:
  ImagePreparation(const ImageEncoder& model, const ImageProcessor& processor, const ImageSet& images,
                   const ImageClassificationOptions& options)
      : model_(model), processor_(processor), images_(images), options_(options) {
    options_.augmentation.size = FixedSize(processor);
  }

  TrainingBatch operator()(const BatchPlan& plan) const {
    const auto count = std::ssize(plan.examples);
    TrainingBatch batch;
    batch.labels = count;
    const std::int64_t of_part = ImagesOfPart(model_.limits(), options_.augmentation.size, count);
    for (std::int64_t begin = 0; begin < count; begin += of_part)
      batch.parts.emplace_back(TrainingPart::Later(
          [self = *this, plan, begin, end = std::min(begin + of_part, count)] { return self.Part(plan, begin, end); }));
    return batch;
  }

 private:
  // Returns images [begin, end) of a batch.
  ImageBatch Part(const BatchPlan& plan, std::int64_t begin, std::int64_t end) const {
    const ImageSize size = options_.augmentation.size;
    const auto all = std::ssize(plan.examples), classes = std::ssize(model_.labels());
    // Mixing combines each image with the previous image, and the first image with the last image of the batch.
    const bool mixes = options_.mix.mixup > 0 || options_.mix.cutmix > 0;
    const std::int64_t more = mixes && end - begin < all ? 1 : 0, count = end - begin + more;
    const Tensor values = Tensor::Empty({count, size.height, size.width, 3}), targets = Tensor::Empty({count, classes});
    const double smoothing = options_.label_smoothing;
    targets.Fill(smoothing / static_cast<double>(classes));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t example = plan.examples[static_cast<std::size_t>((begin - more + i + all) % all)];
      Random random = RandomOfExample(options_.batches.seed, plan.position.epoch, example);
      const Image image = Augment(images_[example], options_.augmentation, random);
      const Tensor own = processor_.Values(image);
      EraseAtRandom(own, options_.erasing, random);
      values.ViewRows(i, 1).ViewAs(own.shape()).CopyFrom(own);
      targets.matrix<float>().row(i)[images_.label(example)] += static_cast<float>(1 - smoothing);
    }
    // The batch has its own random stream. Its index is negative, so no example has the same stream.
    Random random = RandomOfExample(options_.batches.seed, plan.position.epoch, -1 - plan.position.batch);
    Mix(values, targets, options_.mix, random);
    return {values.ViewRows(more, end - begin), targets.ViewRows(more, end - begin)};
  }

  const ImageEncoder& model_;
  ImageProcessor processor_;
  const ImageSet& images_;
  ImageClassificationOptions options_;
};

}  // namespace

ImageSize FixedSize(const ImageProcessor& processor) {
  if (processor.crop) return *processor.crop;
  const ResizeRule& rule = processor.resize;
  if (rule.kind == ResizeRule::Kind::exact) return rule.size;
  Check(rule.kind == ResizeRule::Kind::cropped,
        "the model's preprocessor_config.json gives sizes that depend on the image; for this training it "
        "must give one size");
  return {rule.edge, rule.edge};
}

std::int64_t ImagesOfPart(const ImageEncoder::Limits& limits, ImageSize size, std::int64_t images) {
  if (limits.batch_statistics) return images;
  const std::int64_t tokens = limits.special + size.height / limits.patch.height * (size.width / limits.patch.width);
  const std::int64_t parts = std::max<std::int64_t>(1, (images * tokens + kPatchesOfPart / 2) / kPatchesOfPart);
  return (images + parts - 1) / parts;
}

ValidationReport ValidateImageClasses(const ImageEncoder& model, const ImageProcessor& processor, const ImageSet& valid,
                                      const PassWatch& watch) {
  CheckClasses(model, valid, "validate on");
  const ImageSize size = FixedSize(processor);
  constexpr std::int64_t most = 64;
  const std::int64_t of_part = std::min(most, ImagesOfPart(model.limits(), size, std::int64_t{1} << 20));
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

TrainingTask ImageClassificationTask(ImageEncoder& model, const ImageProcessor& processor, const ImageSet& train,
                                     const ImageSet& valid, const ImageClassificationOptions& options) {
  CheckClasses(model, train, "train on");
  CheckClasses(model, valid, "validate on");
  return {.model = &model,
          .batches = PreparedBatches(train.size(), options.batches, ImagePreparation(model, processor, train, options)),
          .loss =
              [&model, drop_path = options.drop_path](Context& context, const TrainingPart& part, double scale) {
                const auto& [values, targets] = part.As<ImageBatch>();
                if (context.training) context.training->drop_path = drop_path;
                return ops::SoftCrossEntropy(LogitsOf(model, context, values), targets, scale);
              },
          .validate = [&model, processor,
                       &valid](const PassWatch& watch) { return ValidateImageClasses(model, processor, valid, watch); },
          .scores = {"accuracy", "macro_f1"}};
}

}  // namespace headlight

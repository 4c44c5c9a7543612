#include "headlight/train/objectives/detection.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/image/augment_boxes.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Limit on the pixels of a micro-batch, which bounds the memory of activations.
constexpr std::int64_t kPixelsOfPart = 1 << 20;

// Converts boxes to coordinates relative to the image size. Removes crowds, and clips boxes to the image.
TrueObjects ObjectsOf(const std::vector<LabeledBox>& boxes, ImageSize size) {
  TrueObjects objects;
  for (const LabeledBox& one : boxes) {
    if (one.crowd) continue;
    const auto share = [](double side, std::int64_t whole) {
      return std::clamp(side / static_cast<double>(whole), 0.0, 1.0);
    };
    const double left = share(one.box.left, size.width), right = share(one.box.right, size.width);
    const double top = share(one.box.top, size.height), bottom = share(one.box.bottom, size.height);
    if (right <= left || bottom <= top) continue;
    objects.labels.push_back(one.label);
    objects.boxes.push_back({(left + right) / 2, (top + bottom) / 2, right - left, bottom - top});
  }
  return objects;
}

// Returns DETR's sizes. They are scaled from DETR's shorter side of 800 pixels to the shorter side of the rule.
ScaleAndCrop SizesFor(const ResizeRule& rule) {
  ScaleAndCrop sizes;
  const auto scale = [&](std::int64_t& side) { side = std::max<std::int64_t>(1, (side * rule.edge + 400) / 800); };
  for (std::int64_t& side : sizes.first_sides) scale(side);
  for (std::int64_t& side : sizes.sides) scale(side);
  scale(sizes.least_crop);
  scale(sizes.most_crop);
  sizes.longest = rule.longest;
  return sizes;
}

// Caches the image sizes of a set. A rank needs the image sizes of whole batches. Without the cache, every epoch would
// open the files of other ranks' images again.
class ImageSizes {
 public:
  ImageSizes(const DetectionSet& set, ImageSizeReader read)
      : set_(set), read_(std::move(read)), known_(set.examples.size()) {}

  // Returns the size of the example's image. Thread-safe.
  ImageSize operator[](std::size_t example) {
    {
      const std::lock_guard lock(mutex_);
      if (known_[example].height > 0) return known_[example];
    }
    const ImageSize size = read_(set_.examples[example].image);
    CheckSize(set_.examples[example], size);
    const std::lock_guard lock(mutex_);
    return known_[example] = size;
  }

 private:
  const DetectionSet& set_;
  ImageSizeReader read_;
  std::mutex mutex_;
  std::vector<ImageSize> known_;
};

// Prepares the batch for a plan. The parts and the loss sums depend only on the images' sizes. A rank therefore decodes
// only the images of its own parts.
class DetectionPreparation {
 public:
  DetectionPreparation(const DetectionModel& model, const ImageProcessor& processor, const DetectionSet& set,
                       ImageReader read, ImageSizeReader read_size, const DetectionTrainingOptions& options)
      : model_(model),
        processor_(processor),
        set_(set),
        read_(std::move(read)),
        sizes_(std::make_shared<ImageSizes>(set, std::move(read_size))),
        options_(options) {}

  TrainingBatch operator()(const BatchPlan& plan) const {
    std::vector<TrueObjects> objects;
    std::vector<BoxedChange> changes;
    for (const std::uint32_t example : plan.examples) {
      const ImageSize size = (*sizes_)[example];
      const BoxedChange& change = changes.emplace_back(ChangeOf(plan, example, size));
      objects.push_back(ObjectsOf(Changed(set_.examples[example].boxes, size, change), change.size));
    }
    TrainingBatch batch;
    batch.labels = std::ssize(plan.examples);
    const DetectionPart begun = {.images = {},
                                 .objects = {},
                                 .sums = DetectionLossSums::Of(objects, model_.limits().queries, model_.loss()),
                                 .batch_images = batch.labels};
    for (std::size_t begin = 0, end = 0; begin < objects.size(); begin = end) {
      DetectionPart part = begun;
      std::vector<std::pair<std::uint32_t, BoxedChange>> images;
      for (std::int64_t pixels = 0; end < objects.size(); ++end) {
        pixels += changes[end].size.height * changes[end].size.width;
        if (end > begin && pixels > kPixelsOfPart) break;
        images.emplace_back(plan.examples[end], changes[end]);
        part.objects.push_back(std::move(objects[end]));
      }
      batch.parts.emplace_back(TrainingPart::Later([self = *this, part = std::move(part), images = std::move(images)] {
        DetectionPart made = part;
        for (const auto& [example, change] : images)
          made.images.push_back(self.processor_.Values(Changed(self.read_(self.set_.examples[example].image), change)));
        return made;
      }));
    }
    return batch;
  }

 private:
  // Returns the example's augmentation, combined with the resizing to the model's input size.
  BoxedChange ChangeOf(const BatchPlan& plan, std::uint32_t example, ImageSize image) const {
    Random random = RandomOfExample(options_.batches.seed, plan.position.epoch, example);
    if (options_.augment == BoxAugmentation::scale && processor_.resize.kind == ResizeRule::Kind::shortest)
      return RandomScaleAndCrop(image, SizesFor(processor_.resize), random);
    return {.flip = options_.augment != BoxAugmentation::none && random.Below(2) == 0,
            .size = ResizedSize(processor_.resize, image)};
  }

  const DetectionModel& model_;
  ImageProcessor processor_;
  const DetectionSet& set_;
  ImageReader read_;
  std::shared_ptr<ImageSizes> sizes_;
  DetectionTrainingOptions options_;
};

// Returns the sum of the losses of all decoder layers.
Tensor LossOf(const DetectedImages& found, const std::vector<TrueObjects>& objects, const DetectionLossSums& sums,
              const DetectionLossOptions& options, double scale) {
  Tensor loss;
  for (const QueryAnswers& answers : found.layers) {
    const Tensor own = DetectionLoss(answers, objects, sums, options, scale);
    loss = loss.empty() ? own : ops::Add(loss, own);
  }
  return loss;
}

void CheckSet(const DetectionModel& model, const DetectionSet& set, const char* purpose) {
  Check(!set.examples.empty(), "there is no image to {}", purpose);
  for (const DetectionExample& example : set.examples)
    for (const LabeledBox& box : example.boxes)
      Check(box.label >= 0 && box.label < std::ssize(model.labels()), "{}: class {} is not one of the model's {}",
            example.image, box.label, model.labels().size());
}

void CheckProcessor(const ImageProcessor& processor) {
  Check(!processor.crop, "a detector's images are not cropped by its preprocessor_config.json");
}

}  // namespace

Tensor CellLoss(const QueryAnswers& cells, const DetectedImages& found, const std::vector<TrueObjects>& objects,
                const DetectionLossOptions& options, double scale) {
  const auto nothing = static_cast<std::int32_t>(cells.logits.columns() - 1);
  MatchedObjects matches = {std::vector(found.cells.size(), nothing), {}, {}};
  for (std::size_t image = 0; image < objects.size(); ++image) {
    const auto& [labels, boxes] = objects[image];
    const auto [height, width] = found.grids[image];
    const Sequence& rows = found.images[image];
    for (std::int32_t i = 0; i < rows.length; ++i) {
      const std::int64_t cell = found.cells[static_cast<std::size_t>(rows.row(i))];
      const std::int64_t row_of_cell = cell / width;
      const auto column = static_cast<double>(cell % width), row = static_cast<double>(row_of_cell);
      const auto across = static_cast<double>(width), down = static_cast<double>(height);
      std::size_t smallest = boxes.size();
      for (std::size_t object = 0; object < boxes.size(); ++object) {
        const auto [x, y, box_width, box_height] = boxes[object];
        const bool holds_middle = std::floor(x * across) == column && std::floor(y * down) == row;
        const bool inside =
            std::abs((column + 0.5) / across - x) < box_width / 2 && std::abs((row + 0.5) / down - y) < box_height / 2;
        if ((holds_middle || inside) &&
            (smallest == boxes.size() || box_width * box_height < boxes[smallest][2] * boxes[smallest][3]))
          smallest = object;
      }
      if (smallest < boxes.size()) matches.Add(rows.row(i), objects[image], smallest);
    }
  }
  const auto shown = static_cast<double>(matches.rows.size());
  const double others = static_cast<double>(found.cells.size()) - shown;
  const DetectionLossSums sums = {.boxes = std::max(1.0, shown), .weights = shown + options.nothing_weight * others};
  return MatchedLoss(cells, matches, sums, options, scale);
}

DetectionEvaluation EvaluateDetection(const DetectionModel& model, const ImageProcessor& processor,
                                      const DetectionSet& valid, const ImageReader& read, const PassWatch& watch) {
  CheckSet(model, valid, "validate on");
  CheckProcessor(processor);
  constexpr std::int64_t at_once = 16;
  const std::int64_t count = std::ssize(valid.examples);
  DetectionMatches matches(static_cast<std::int32_t>(model.labels().size()));
  // The values for an image are its loss, the number of detected boxes, and the boxes.
  const auto blocks = SharedBlocks(watch, count, at_once, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Tensor> images(static_cast<std::size_t>(end - begin));
    std::vector<ImageSize> sizes(images.size());
    ParallelFor(end - begin, [&](std::int64_t i) {
      const Image image = read(valid.examples[static_cast<std::size_t>(begin + i)].image);
      sizes[static_cast<std::size_t>(i)] = {image.height, image.width};
      CheckSize(valid.examples[static_cast<std::size_t>(begin + i)], sizes[static_cast<std::size_t>(i)]);
      images[static_cast<std::size_t>(i)] = processor.Values(processor.Fit(image));
    });
    std::vector<double> numbers;
    for (std::size_t i = 0; i < images.size(); ++i) {
      const DetectionExample& example = valid.examples[static_cast<std::size_t>(begin) + i];
      const auto [height, width] = sizes[i];
      const std::vector<TrueObjects> objects = {ObjectsOf(example.boxes, sizes[i])};
      Context context;
      const DetectedImages found = model.Detect(context, {&images[i], 1}, {}, /*all_layers=*/true);
      const std::int64_t queries = model.limits().queries;
      numbers.push_back(static_cast<double>(
          LossOf(found, objects, DetectionLossSums::Of(objects, queries, model.loss()), model.loss(), 1)
              .data<float>()[0]));
      const auto findings = FindingsOf(found.layers.back(), 0, queries);
      numbers.push_back(static_cast<double>(findings.size()));
      for (const auto& [shares, label, score] : findings) {
        const Box box = BoxOfShares(shares[0], shares[1], shares[2], shares[3], height, width);
        numbers.insert(numbers.end(), {box.left, box.top, box.right, box.bottom, static_cast<double>(label), score});
      }
    }
    return numbers;
  });
  double loss = 0;
  std::size_t image = 0;
  for (const std::vector<double>& block : blocks)
    for (auto at = block.begin(); at != block.end(); ++image) {
      loss += *at++;
      std::vector<FoundBox> boxes;
      for (auto left = static_cast<std::int64_t>(*at++); left > 0; --left, at += 6)
        boxes.push_back({{at[0], at[1], at[2], at[3]}, static_cast<std::int32_t>(at[4]), at[5]});
      std::vector<LabeledBox> truth = valid.examples[image].boxes;
      std::ranges::copy(valid.examples[image].without_area, std::back_inserter(truth));
      matches.Add(truth, boxes);
    }
  DetectionEvaluation evaluation = {{}, matches.Scores()};
  ValidationReport& report = evaluation.report;
  report.loss = loss / static_cast<double>(count);
  report.labels = count;
  const auto per_cent = [](double score) { return std::isnan(score) ? 0 : 100 * score; };
  report.score_name = "ap";
  report.score = per_cent(evaluation.scores.ap);
  report.more_scores = {{"ap50", per_cent(evaluation.scores.ap50)}, {"ap75", per_cent(evaluation.scores.ap75)}};
  return evaluation;
}

TrainingTask DetectionTask(DetectionModel& model, const ImageProcessor& processor, const DetectionSet& train,
                           const DetectionSet& valid, const ImageReader& read, const ImageSizeReader& read_size,
                           const DetectionTrainingOptions& options) {
  CheckSet(model, train, "train on");
  CheckSet(model, valid, "validate on");
  CheckProcessor(processor);
  TrainingTask task;
  task.model = &model;
  task.batches = PreparedBatches(std::ssize(train.examples), options.batches,
                                 DetectionPreparation(model, processor, train, read, read_size, options));
  task.loss = [&model, cell_weight = options.cell_weight](Context& context, const TrainingPart& part, double scale) {
    const auto& [images, objects, sums, batch_images] = part.As<DetectionPart>();
    const DetectedImages found = model.Detect(context, images, {}, /*all_layers=*/true);
    const Tensor loss = LossOf(found, objects, sums, model.loss(), scale * static_cast<double>(batch_images));
    if (cell_weight == 0) return loss;
    return ops::Add(loss, CellLoss(model.Answer(context, found.memory), found, objects, model.loss(),
                                   scale * cell_weight * static_cast<double>(objects.size())));
  };
  task.validate = [&model, processor, &valid, read](const PassWatch& watch) {
    return EvaluateDetection(model, processor, valid, read, watch).report;
  };
  task.scores = {"ap", "ap50", "ap75"};
  return task;
}

}  // namespace headlight

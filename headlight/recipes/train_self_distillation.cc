#include "headlight/recipes/train_self_distillation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/batches.h"
#include "headlight/models/family.h"
#include "headlight/train/objectives/image_classification.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kDistillationDefaults = [] {
  TrainingDefaults defaults = kImageDefaults;
  defaults.batch = 64;
  defaults.weight_decay = defaults.tuning_weight_decay = 0.04;
  defaults.clip_norm = 0;
  return defaults;
}();

std::unique_ptr<ImageEncoder> NewModel(const SelfDistillationTraining& options, const TrainingPlan& plan) {
  if (options.from_scratch()) return NewImageModel(options, plan, {});
  const auto model = LoadModel<ImageEncoder>(options.from, {.dropout = options.chosen_dropout()});
  Check(model->limits().channels == 3, "{}: the model reads {} channels, and images have 3", options.from,
        model->limits().channels);
  return GiveClasses(*model, {}, options.seed);
}

// Sets the missing crop sizes, and checks that the model supports them.
void CompleteCrops(const ImageEncoder::Limits& limits, const ImageProcessor& processor, MultiCrop& crops) {
  const std::int64_t patch = std::max(limits.patch.height, limits.patch.width);
  if (crops.global_size == 0) {
    const ImageSize size = FixedSize(processor);
    crops.global_size = std::min(size.height, size.width);
  }
  if (crops.local_size == 0) crops.local_size = std::max(patch, crops.global_size * 3 / 7 / patch * patch);
  for (const auto& [option, size] :
       {std::pair("global_size", crops.global_size), std::pair("local_size", crops.local_size)})
    Check(size >= patch, "`{}` {}: a crop is smaller than a patch of {} pixels", option, size, patch);
  Check(crops.local_share.least <= crops.global_share.least,
        "`local_share` {}: a local crop would show more of the image than a global one, which has `global_share` {}",
        crops.local_share.least, crops.global_share.least);
  crops.local_share.most = crops.global_share.least;
}

DistilledImages CropsOf(const ImageSet& images, const ImageProcessor& processor,
                        const SelfDistillationTraining& options) {
  return {.count = images.size(),
          .crops =
              [&](std::int64_t image, std::int64_t epoch) {
                Random random = RandomOfExample(options.seed, epoch, image);
                std::vector<Tensor> crops;
                for (const Image& crop : RandomCrops(images[image], options.crops, random))
                  crops.push_back(processor.Values(crop));
                return crops;
              },
          .whole = [&](std::int64_t image) { return processor.Values(processor.Fit(images[image])); }};
}

void CheckOptions(const SelfDistillationTraining& options) {
  for (const auto& [name, given] : {std::pair("average_decay", options.average_decay.has_value()),
                                    std::pair("average_last", options.average_last.has_value())})
    Check(!given, "`{}`: the saved model, the teacher, is already a moving average (`teacher_momentum`)", name);
  for (const auto& [name, given] : {std::pair("patience", options.patience.has_value()),
                                    std::pair("validate_metric", !options.validate_metric.empty())})
    Check(!given || !options.labeled.empty(),
          "`{}` needs `labeled`: without labels no score tells which model is better", name);
  Check(options.crops.local_size == 0 || options.crops.locals > 0, "`local_size`: `local_crops` 0 makes none");
}

}  // namespace

void Describe(OptionTable& table, SelfDistillationTraining& options) {
  Describe(table, options, kDistillationDefaults,
           "files, folders, patterns, IDX files, or .csv, .jsonl and .tsv files of paths; labels are ignored",
           /*validates=*/false);
  DescribeSkipErrors(table, options.skip_errors);
  DescribeResnet(table, options);
  const auto describe = [&](const char* name, const char* value, const char* description) {
    table.Get(name).Default(value).Describe(description);
  };
  describe("--learning-rate", "0.0005 for 256 images per batch; with `from` 0.0001", "Peak learning rate");
  describe("--weight-decay", "0.04", "AdamW's weight decay at the start");
  describe("--clip-norm", "0", "Clip the gradient of all parameters together to this norm; 0: do not clip");
  table.Get("--drop-path").Default("0.1");
  table
      .Add("--labeled", options.labeled,
           "Labeled images, as image-classification reads them, for the k-NN accuracy that validations report")
      .Type("FILE");
  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) -> Option& {
    return table.Add(name, value, check, description).Group("Self-distillation");
  };
  const auto add_with_default = [&](const char* name, auto& value, const OptionCheck& check, const char* description) {
    add(name, value, check, description).ShowDefault();
  };
  SelfDistillationOptions& distillation = options.distillation;
  add("--global-size", options.crops.global_size, Between(1, 4096),
      "Pixels per side of the two global crops [as the model's images]");
  add("--local-size", options.crops.local_size, Between(1, 4096),
      "Pixels per side of the local crops [3/7 of the global ones, in whole patches]");
  add_with_default("--local-crops", options.crops.locals, Between(0, 64), "Local crops per image");
  add_with_default("--global-share", options.crops.global_share.least, NumberAbove(0, 1),
                   "Global crops have this share of the image's area or more, local ones less");
  add_with_default("--local-share", options.crops.local_share.least, NumberAbove(0, 1),
                   "Local crops have this share of the image's area or more");
  add_with_default("--prototypes", distillation.head.prototypes, Between(2, 1 << 20),
                   "Outputs of the head; the paper has 65536 for ImageNet");
  add_with_default("--head-hidden-dim", distillation.head.hidden, Between(1, 1 << 14),
                   "Hidden size of the projection head");
  add_with_default("--teacher-temperature", distillation.teacher_temperature, NumberAbove(0),
                   "Temperature of the teacher's outputs");
  add_with_default("--teacher-warmup", distillation.warmup_epochs, AtLeast(0),
                   "Epochs in which that temperature rises linearly from 0.04; 0: it is constant");
  add_with_default("--teacher-momentum", distillation.teacher_momentum, NumberBelow(0, 1),
                   "Momentum of the teacher at the start; it rises to 1 by a cosine schedule");
  add_with_default("--frozen-prototypes", distillation.frozen_epochs, AtLeast(0),
                   "Epochs at the start in which the head's last layer is frozen");
  add("--final-weight-decay", options.final_weight_decay, NumberFrom(0),
      "Weight decay at the end, by a cosine schedule")
      .Default("0.4");
  add_with_default("--clip-parameter-norm", options.clip_parameter_norm, NumberFrom(0),
                   "Clip each parameter's gradient to this norm; 0: do not clip");
}

TrainingResult TrainSelfDistillation(SelfDistillationTraining options, const TrainingObserver& observer) {
  CheckOptions(options);
  CompleteImageSizes(options);
  options.drop_path = options.drop_path.value_or(0.1);
  auto [plan, folder] = BeginImageTraining(options, kDistillationDefaults, observer, /*validates=*/false);
  TrainingOptions& training = plan.training;
  Check(!options.final_weight_decay || FallsToZero(training.schedule.kind),
        "`final_weight_decay` needs `schedule` cosine or linear");
  if (!options.learning_rate && options.from_scratch())
    training.schedule.peak = 5e-4 * static_cast<double>(plan.batches.batch_size) / 256;
  const double final_weight_decay = options.final_weight_decay.value_or(0.4);
  training.final_weight_decay = final_weight_decay;
  training.adam.clip_parameter_norm = options.clip_parameter_norm;
  options.distillation.drop_path = *options.drop_path;
  options.distillation.batches = plan.batches;
  CheckSelfDistillation(options.distillation);
  const std::unique_ptr<ImageEncoder> student = NewModel(options, plan), teacher = NewModel(options, plan);
  const ImageProcessor processor = ProcessorOf(options);
  CompleteCrops(student->limits(), processor, options.crops);

  std::vector<std::string> labels;
  ImageList list;
  if (!options.labeled.empty()) list = ListLabeledImages(options.labeled, labels, NewLabels::added);
  std::vector<ImageSource> unlabeled = ListUnlabeledImages(options.train);
  if (options.sources)
    for (const std::vector<ImageSource>* sources : {&unlabeled, &list.sources}) options.sources(*sources);
  const ImageSet train = ReadImageSet({std::move(unlabeled), {}}, options.skip_errors, options.most_pixels, observer);
  Note(observer, fmt::format("{}: {} to train on", fmt::join(options.train, ", "), Counted(train.size(), "image")));
  NoteCheckOfImages(observer, options.train, /*classes=*/false);
  const ImageSet labeled = ReadImageSet(list, options.skip_errors, options.most_pixels, observer);

  SelfDistillation distillation(*student, *teacher, options.distillation);
  teacher->parameters().SetCompute(plan.compute);
  const DistilledImages learned = CropsOf(train, processor, options);
  if (options.first_images)
    options.first_images(
        learned, [&](std::int64_t i) { return std::filesystem::path(train.name(i)).filename().string(); }, processor);
  DistilledImages validated = learned;
  if (options.labeled.empty()) {
    validated.count = std::min<std::int64_t>(learned.count, 256);
  } else {
    validated = CropsOf(labeled, processor, options);
    validated.classes = list.labels;
    Note(observer, fmt::format("{}: {} of {} to validate on", fmt::join(options.labeled, ", "),
                               Counted(labeled.size(), "image"), Counted(labels.size(), "class")));
  }
  const SelfDistillationOptions& d = options.distillation;
  Json of = Json::Object{{"final_weight_decay", final_weight_decay},
                         {"clip_parameter_norm", options.clip_parameter_norm},
                         {"global_size", options.crops.global_size},
                         {"local_size", options.crops.local_size},
                         {"local_crops", options.crops.locals},
                         {"global_share", options.crops.global_share.least},
                         {"local_share", options.crops.local_share.least},
                         {"prototypes", d.head.prototypes},
                         {"head_dim", d.head.hidden},
                         {"teacher_temperature", d.teacher_temperature},
                         {"teacher_warmup", d.warmup_epochs},
                         {"teacher_momentum", d.teacher_momentum},
                         {"frozen_prototypes", d.frozen_epochs},
                         {"labelled_hash", fmt::format("{:016x}", labeled.hash())}};
  return RunImageTraining(distillation.Task(learned, validated), options, plan, "self-distillation", "images",
                          train.hash(), std::move(of), *teacher, observer);
}

}  // namespace headlight

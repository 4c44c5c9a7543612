#include "headlight/recipes/train_image_classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/models/family.h"

namespace headlight {
namespace {

struct ClassifierPreset {
  OptionValues settings;
  OptionValues augmentation;  // replaces the augmentation preset unless `augment` is given
};

const std::map<std::string, ClassifierPreset> kClassifierPresets = {
    {"small-images",
     {{{"--image-size", "64"},
       {"--channels", "64,128,256"},
       {"--depths", "1,1,1"},
       {"--batch-size", "64"},
       {"--learning-rate", "0.002"},
       {"--label-smoothing", "0.1"},
       {"--average-decay", "0.99"},
       {"--epochs", "30"}},
      {{"--random-resized-crop", "0.5"}, {"--horizontal-flip", "0.5"}, {"--rand-augment", "9"}}}},
    {"small-gray-images",
     {{{"--image-size", "56"},
       {"--channels", "64,128,256"},
       {"--depths", "1,1,1"},
       {"--batch-size", "64"},
       {"--learning-rate", "0.002"},
       {"--label-smoothing", "0.1"},
       {"--average-decay", "0.999"},
       {"--epochs", "14"}},
      {{"--random-crop", "4"}, {"--horizontal-flip", "0.5"}}}},
};

bool HasAll(std::vector<std::string> labels, std::vector<std::string> others) {
  std::ranges::sort(labels);
  std::ranges::sort(others);
  return labels == others;
}

// Returns "0", "1", ... Many data sets have these numbers as classes instead of the model's class names.
std::vector<std::string> Numbers(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

// Loads the model of `from`, with a head for these labels. If the model has the same classes, puts `labels` in the
// model's order.
std::unique_ptr<ImageEncoder> ModelFor(const ImageClassifierTraining& options, std::vector<std::string>& labels,
                                       const TrainingObserver& observer) {
  std::unique_ptr<ImageEncoder> model = LoadModel<ImageEncoder>(options.from, {.dropout = options.chosen_dropout()});
  const std::vector<std::string>& known = model->labels();
  if (!known.empty() && (HasAll(labels, known) || HasAll(labels, Numbers(known.size())))) {
    labels = known;
    return model;
  }
  Note(observer, known.empty() ? fmt::format("{}: no classification head; a new one is initialized", options.from)
                               : fmt::format("{}: it has {} other classes; a new classification head is initialized",
                                             options.from, known.size()));
  return GiveClasses(*model, labels, options.seed);
}

// Warns if a folder of splits was given instead of a folder of classes.
void NoteNamesOfSets(const std::vector<std::string>& labels, const TrainingObserver& observer) {
  for (const std::string& label : labels)
    if (IsNameOfSet(label))
      Note(observer,
           fmt::format("warning: \"{}\" is a class, by the name of its folder; if it is a set of images, give "
                       "its folder with `train` or `valid`",
                       label));
}

}  // namespace

void Describe(OptionTable& table, ImageClassifierTraining& options) {
  table
      .Add("--preset", options.preset, OneOf({"small-images", "small-gray-images"}),
           "Settings of a ResNet to start from: for images of 32 to 64 pixels, or for gray ones of 28, such as "
           "Fashion-MNIST's")
      .Type("small-images|small-gray-images");
  Describe(table, options, kImageDefaults,
           "a folder with a folder for each class, a .csv or .jsonl file of path and label, a .tsv file, or two IDX "
           "files, of images and of their classes",
           /*validates=*/true);
  DescribeSkipErrors(table, options.skip_errors);
  DescribeResnet(table, options);
  table
      .Add("--label-smoothing", options.label_smoothing, NumberBelow(0, 1),
           "Share of the probability that is spread over all classes")
      .Default("0")
      .Group("Training");
  Describe(table, options.augmentation);
}

TrainingResult TrainImageClassifier(ImageClassifierTraining options, const TrainingObserver& observer) {
  const bool names_augmentation = options.augmentation.augment.has_value();
  if (!options.preset.empty()) {
    const ClassifierPreset& preset = PresetOf(kClassifierPresets, options.preset);
    ApplyPreset(options, preset.settings);
    if (!names_augmentation) ApplyPreset(options, preset.augmentation);
  }
  if (options.preset.empty() || names_augmentation) CompleteAugmentation(options.augmentation);
  CompleteImageSizes(options, options.preset.empty() ? "which is given" : "as `preset` " + options.preset + " has it");
  const auto [plan, folder] = BeginImageTraining(options, kImageDefaults, observer, /*validates=*/true);

  std::vector<std::string> labels;
  ImageList list = ListLabeledImages(options.train, labels, NewLabels::added);
  NoteNamesOfSets(labels, observer);
  const std::vector<std::string> found = labels;
  std::unique_ptr<ImageEncoder> model =
      options.from_scratch() ? NewImageModel(options, plan, labels) : ModelFor(options, labels, observer);
  constexpr NewLabels rule = NewLabels::refused_but_numbers;
  if (labels != found) list = ListLabeledImages(options.train, labels, rule);  // with the model's order of classes
  const auto read = [&](const ImageList& from, const std::vector<std::string>& paths, const TextShare& share,
                        const char* purpose) {
    if (options.sources) options.sources(from.sources);
    ImageSet set = ReadImageSet(from, options.skip_errors, options.most_pixels, observer, share);
    CheckNotEmpty(static_cast<std::size_t>(set.size()), "images", paths, share);
    Note(observer, fmt::format("{}: {} to {}", fmt::join(paths, ", "), Counted(set.size(), "image"), purpose));
    return set;
  };
  const ImageSet train = read(list, options.train, options.learned(), "train on");
  NoteCheckOfImages(observer, options.train, /*classes=*/true);
  if (!options.valid.empty()) list = ListLabeledImages(options.valid, labels, rule);
  const ImageSet valid = read(list, options.validation(), options.validated(), "validate on");
  const ImageProcessor processor = ProcessorOf(options);
  const ImageAugmentation& augmentation = options.augmentation;
  const TrainingTask task = ImageClassificationTask(*model, processor, train, valid,
                                                    {.batches = plan.batches,
                                                     .augmentation = AugmentationOf(augmentation, processor),
                                                     .erasing = augmentation.random_erasing.value_or(0),
                                                     .mix = MixOf(augmentation),
                                                     .label_smoothing = options.label_smoothing.value_or(0),
                                                     .drop_path = options.drop_path.value_or(0)});
  if (options.first_batch) {
    const TrainingBatch batch = task.batches({})();
    options.first_batch(Made(batch.parts.front()).As<ImageBatch>(), processor, model->labels());
  }
  Json of = RunOf(augmentation);
  of.Set("label_smoothing", options.label_smoothing.value_or(0));
  return RunImageTraining(task, options, plan, "image-classification", "images", train.hash(), std::move(of), *model,
                          observer);
}

}  // namespace headlight

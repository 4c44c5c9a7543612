// headlight train image-classification: one class of each picture.
#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/augment_options.h"
#include "headlight/cli/augmented_page.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/picture_training.h"
#include "headlight/data/pictures.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/image_classification.h"

namespace headlight::train_image_classification {
namespace {

struct Preset {
  OptionValues settings;
  OptionValues augmentation;  // in the place of what --augment names, unless that is given
};

const std::map<std::string, Preset> kPresets = {
    {"small-pictures",
     {{{"--image-size", "64"},
       {"--channels", "64,128,256"},
       {"--depths", "1,1,1"},
       {"--batch-size", "64"},
       {"--learning-rate", "0.002"},
       {"--label-smoothing", "0.1"},
       {"--average-decay", "0.99"},
       {"--epochs", "30"}},
      {{"--random-resized-crop", "0.5"}, {"--horizontal-flip", "0.5"}, {"--rand-augment", "9"}}}},
    {"small-grey-pictures",
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

struct Options : PictureTrainingOptions {
  AugmentOptions augment;
  std::string preset, show_augmented;
  double label_smoothing = 0;
};

bool HasAll(std::vector<std::string> labels, std::vector<std::string> others) {
  std::ranges::sort(labels);
  std::ranges::sort(others);
  return labels == others;
}

// The numbers of so many classes as names: data often has numbers where the model has names.
std::vector<std::string> Numbers(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

// The model of --from, with a head for these labels; they become the model's own where it knows the same classes.
std::unique_ptr<PictureEncoder> ModelFor(const Options& options, std::vector<std::string>& labels,
                                         TrainingProgress& progress) {
  std::unique_ptr<PictureEncoder> model =
      LoadModel<PictureEncoder>(options.from, {.dropout = options.chosen_dropout()});
  const std::vector<std::string>& known = model->labels();
  if (!known.empty() && (HasAll(labels, known) || HasAll(labels, Numbers(known.size())))) {
    labels = known;
    return model;
  }
  progress.Note(known.empty() ? fmt::format("{}: no classification head; a new one is initialised", options.from)
                              : fmt::format("{}: it has {} other classes; a new classification head is initialised",
                                            options.from, known.size()));
  return GiveClasses(*model, labels, options.training.seed);
}

void Run(Options& options) {
  const bool names_augmentation = options.given("--augment");
  if (!options.preset.empty()) {
    const Preset& preset = kPresets.at(options.preset);
    SetUnlessGiven(options, preset.settings);
    if (!names_augmentation) SetUnlessGiven(options, preset.augmentation);
  }
  if (options.preset.empty() || names_augmentation) CompleteAugmentOptions(options, options.augment);
  CompletePictureSizes(options,
                       options.preset.empty() ? "which is given" : "as --preset " + options.preset + " has it");
  const TrainingFolder folder = BeginPictureTraining(options);
  CheckAugmentedPage(options.show_augmented, options.inputs());
  TrainingProgress progress(Quiet(), "pictures");

  std::vector<std::string> labels;
  PictureList list = ListLabelledPictures(options.train, labels, NewLabels::added);
  const std::vector<std::string> found = labels;
  std::unique_ptr<PictureEncoder> model =
      options.from_scratch() ? NewPictureModel(options, labels) : ModelFor(options, labels, progress);
  constexpr NewLabels rule = NewLabels::refused_but_numbers;
  if (labels != found) list = ListLabelledPictures(options.train, labels, rule);  // with the model's numbers
  const auto read = [&](const PictureList& from, const std::vector<std::string>& paths, const TextShare& share,
                        const char* purpose) {
    CheckNoPicture("--show-augmented", options.show_augmented, from.sources);
    PictureSet set = ReadPictureSet(from, options.skip_errors, progress, share);
    CheckNotEmpty(static_cast<std::size_t>(set.size()), "pictures", paths, share);
    progress.Note(fmt::format("{}: {} pictures to {}", fmt::join(paths, ", "), set.size(), purpose));
    return set;
  };
  const PictureSet train = read(list, options.train, options.learned(), "learn from");
  if (!options.valid.empty()) list = ListLabelledPictures(options.valid, labels, rule);
  const PictureSet valid = read(list, options.validation(), options.validated(), "validate on");
  const PictureProcessor processor = ProcessorOf(options);
  const TrainingTask task = ImageClassificationTask(*model, processor, train, valid,
                                                    {.batches = options.batches,
                                                     .augmentation = AugmentationOf(options.augment, processor),
                                                     .erasing = options.augment.erasing,
                                                     .mix = options.augment.mix,
                                                     .label_smoothing = options.label_smoothing,
                                                     .drop_path = options.drop_path});
  if (!options.show_augmented.empty()) {
    const TrainingBatch batch = task.batches({})();
    WriteFile(options.show_augmented,
              AugmentedPage(std::any_cast<PictureBatch>(Made(batch.parts.front())), processor, model->labels()));
    progress.Note(fmt::format("{}: a page of pictures as the model sees them", options.show_augmented));
  }
  Json of = DescriptionOf(options.augment);
  of.Set("label_smoothing", options.label_smoothing);
  RunPictureTraining(task, options, "image-classification", "headlight classify", train.hash(), std::move(of), *model,
                     progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command =
      train.AddCommand("image-classification", "Train a classifier of pictures (from scratch a ViT or a ResNet)");
  command
      .Add("--preset", options->preset,
           "Settings of a ResNet to start from: for pictures of 32 to 64 pixels, or for grey ones of 28, such as "
           "Fashion-MNIST's")
      .Check(OneOf({"small-pictures", "small-grey-pictures"}))
      .Type("small-pictures|small-grey-pictures");
  AddPictureTrainingOptions(command, *options,
                            "a folder with a folder for each class, a .csv or .jsonl file of path and label, a .tsv "
                            "file, or two IDX files, of pictures and of their classes",
                            /*validates=*/true);
  AddSkipPictures(command, options->skip_errors);
  AddResnetOptions(command, *options);
  command
      .Add("--label-smoothing", options->label_smoothing, NumberBelow(0, 1),
           "Share of the probability that is spread over all classes")
      .ShowDefault()
      .Group("Training");
  AddAugmentOptions(command, options->augment);
  command
      .AddFile("--show-augmented", options->show_augmented,
               "Write a page of pictures as the model sees them, before the training starts", "FILE.html")
      .Group("Augmentation");
  command.footer =
      "\nJPEG, PNG and WebP are read. Pictures are resized; validations are without augmentation. Up to 1 GiB of "
      "decoded\n"
      "pictures is kept in memory; others are decoded in each epoch. --from a model without a head for classes, such "
      "as\n"
      "one of DINO, or with one for other classes, keeps the encoder and initialises a new head.\n\n"
      "Examples:\n"
      "  headlight train image-classification --train photos/train --valid photos/valid --out model\n"
      "  headlight train image-classification --train labels.csv --validate-split 0.1 --from vit-base --out model\n"
      "  headlight train image-classification --preset small-grey-pictures --validate-split 0.1 --out model \\\n    "
      "--train train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_image_classification

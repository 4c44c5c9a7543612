// headlight train image-classification: trains an image classifier.
#include <memory>
#include <string>

#include "headlight/base/file.h"
#include "headlight/cli/terminal/augmented_page.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"
#include "headlight/recipes/train_image_classifier.h"

namespace headlight::train_image_classification {
namespace {

struct Options : ImageClassifierTraining {
  std::string show_augmented;
};

void Run(Options& options) {
  CheckAugmentedPage(options.show_augmented, options.inputs());
  if (!options.show_augmented.empty()) {
    options.sources = [&](const std::vector<ImageSource>& sources) {
      CheckNoImage("--show-augmented", options.show_augmented, sources);
    };
    options.first_batch = [&](const ImageBatch& batch, const ImageProcessor& processor,
                              const std::vector<std::string>& labels) {
      WriteFile(options.show_augmented, AugmentedPage(batch, processor, labels));
      Note("{}: a page of images as the model sees them", options.show_augmented);
    };
  }
  RunTrainingCommand(options, "headlight classify",
                     [&](const TrainingObserver& observer) { return TrainImageClassifier(options, observer); });
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command =
      train.AddCommand("image-classification", "Train a classifier of images (from scratch a ViT or a ResNet)");
  Describe(command, *options);
  AddRankTimeout(command);
  AddShowAugmented(command, options->show_augmented, "Augmentation");
  command.footer =
      "\nImages are resized; validations are without augmentation. Up to 1 GiB of decoded images are kept in "
      "memory, and others are decoded in each epoch. A model of --from without a head for these classes keeps "
      "its encoder and gets a new head.\n\n"
      "Examples:\n"
      "  headlight train image-classification --train photos/train --valid photos/valid --out model\n"
      "  headlight train image-classification --train labels.csv --validate-split 0.1 --from vit --out model\n"
      "  headlight train image-classification --preset small-gray-images --validate-split 0.1 --out model \\\n    "
      "--train train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_image_classification

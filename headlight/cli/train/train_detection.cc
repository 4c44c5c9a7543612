// headlight train detection: trains an object detector.
#include "headlight/recipes/train_detection.h"

#include <memory>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/cli/terminal/augmented_page.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"

namespace headlight::train_detection {
namespace {

struct Options : DetectionTraining {
  std::string show_augmented;
};

void Run(Options& options) {
  CheckAugmentedPage(options.show_augmented, options.inputs());
  if (!options.show_augmented.empty()) {
    options.sources = [&](const std::vector<std::string>& files) {
      CheckOutputs({{"--show-augmented", options.show_augmented}}, files);
    };
    options.first_batch = [&](const DetectionPart& batch, const ImageProcessor& processor,
                              const std::vector<std::string>& labels) {
      WriteFile(options.show_augmented, AugmentedPage(batch, processor, labels));
      Note("{}: a page of images as the model sees them", options.show_augmented);
    };
  }
  RunTrainingCommand(options, "headlight detect",
                     [&](const TrainingObserver& observer) { return TrainDetection(options, observer); });
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand("detection", "Train an object detector (a DETR)");
  Describe(command, *options);
  AddRankTimeout(command);
  AddShowAugmented(command, options->show_augmented, "Augmentation");
  command.footer =
      "\nValidations are without augmentation, and report COCO's AP and the AP at IoU 0.5 and 0.75. A model of "
      "--from that has other classes gets a new head for them. The backbone is then trained with a tenth of the "
      "learning rate, unless --rate says otherwise, and the statistics of its norms are fixed.\n\n"
      "Examples:\n"
      "  headlight train detection --train instances_train.json --valid instances_val.json --images photos \\\n    "
      "--from detr-resnet-50 --out model\n"
      "  headlight train detection --train VOC/ImageSets/Main/train.txt --valid VOC/ImageSets/Main/val.txt \\\n    "
      "--from detr-resnet-50 --out model\n"
      "  headlight train detection --preset small-scenes --train train.json --valid valid.json --out model";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_detection

// headlight train self-distillation: trains an image encoder without labels by the DINO method.
#include "headlight/recipes/train_self_distillation.h"

#include <memory>
#include <string>

#include "headlight/base/file.h"
#include "headlight/cli/terminal/augmented_page.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"

namespace headlight::train_self_distillation {
namespace {

struct Options : SelfDistillationTraining {
  std::string show_augmented;
};

void Run(Options& options) {
  CheckAugmentedPage(options.show_augmented, options.inputs());
  if (!options.show_augmented.empty()) {
    options.sources = [&](const std::vector<ImageSource>& sources) {
      CheckNoImage("--show-augmented", options.show_augmented, sources);
    };
    options.first_images = [&](const DistilledImages& images, const std::function<std::string(std::int64_t)>& name_of,
                               const ImageProcessor& processor) {
      WriteFile(options.show_augmented, AugmentedPage(images, name_of, processor));
      Note("{}: a page of images as the model sees them", options.show_augmented);
    };
  }
  RunTrainingCommand(options, "headlight embed",
                     [&](const TrainingObserver& observer) { return TrainSelfDistillation(options, observer); });
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand(
      "self-distillation", "Train an image encoder without labels, as DINO (from scratch a ViT or a ResNet)");
  Describe(command, *options);
  AddRankTimeout(command);
  AddShowAugmented(command, options->show_augmented, "Self-distillation");
  command.footer =
      "\nThe student reads random crops of an image, and is trained to predict the output of the teacher for the "
      "two large crops. The teacher is a moving average of the student's weights. It is saved as a folder of a "
      "ViT, a ResNet or the family of --from, for `embed` or as --from of `train image-classification`. Without "
      "--labeled validations report the loss of 256 of the images.\n\n"
      "Examples:\n"
      "  headlight train self-distillation --train photos/ --out features --epochs 100\n"
      "  headlight train self-distillation --train photos/ --labeled some/ --image-size 32 --patch-size 4 \\\n    "
      "--out features\n"
      "  headlight embed features cat.jpg";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_self_distillation

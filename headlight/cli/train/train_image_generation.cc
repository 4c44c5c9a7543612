// headlight train image-generation: trains an ImageGPT.
#include "headlight/recipes/train_image_generation.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_image_generation {

void Add(Command& train) {
  AddTraining(train, "image-generation", "Train a model that generates images pixel by pixel (an ImageGPT)",
              "headlight generate --out new.png", TrainImageGeneration)
      .footer =
      "\nImages are kept in memory after resizing. If all images are gray, so are the colors. Validations report "
      "bits per pixel, the mean negative binary logarithm of the probability of a pixel's color. The image is "
      "resized and reduced to the colors first, so that only models with the same size and colors can be "
      "compared.\n\n"
      "Examples:\n"
      "  headlight train image-generation --train train-images-idx3-ubyte.gz --validate-split 0.05 --image-size 28 "
      "\\\n    --clusters 16 --out model\n"
      "  headlight train image-generation --train photos --valid more --from imagegpt-small --flip --out further";
}

}  // namespace headlight::train_image_generation

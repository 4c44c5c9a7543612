// headlight train image-generation: images, pixel by pixel.
#include "headlight/recipes/train_image_generation.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_image_generation {

void Add(Command& train) {
  AddTraining(train, "image-generation", "Train a generator of images, pixel by pixel (an ImageGPT)",
              "headlight generate --out new.png", TrainImageGeneration)
      .footer =
      "\nJPEG, PNG, WebP, BMP, GIF and TIFF are read, and kept in memory as they are resized. If all images are grey, "
      "so are the "
      "colours.\n"
      "Validations report bits per pixel: the mean negative binary logarithm of the probability of a pixel's colour,\n"
      "of the image as it is resized and reduced to the colours, so that only models with the same size and "
      "colours\n"
      "compare.\n\n"
      "Examples:\n"
      "  headlight train image-generation --train train-images-idx3-ubyte.gz --validate-split 0.05 --image-size 28 "
      "\\\n    --clusters 16 --out model\n"
      "  headlight train image-generation --train photos --valid more --from imagegpt-small --flip --out further";
}

}  // namespace headlight::train_image_generation

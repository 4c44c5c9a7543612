// headlight train image-codes: trains a discrete VAE, which encodes images as grids of codes.
#include "headlight/recipes/train_image_codes.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_image_codes {

void Add(Command& train) {
  AddTraining(train, "image-codes", "Train a discrete VAE, which encodes images as grids of codes",
              "headlight train text-to-image --vae", TrainImageCodes)
      .footer =
      "\nAn image becomes a grid of codes. Each code stands for a square of 2^layers pixels per side. Validations "
      "report psnr, in dB, of images that are decoded from their most probable codes; codes_used, the number of "
      "different codes; and code_perplexity, the exponential of their entropy.\n\n"
      "Examples:\n"
      "  headlight train image-codes --train photos --validate-split 0.05 --image-size 64 --codes 1024 --out vae\n"
      "  headlight train image-codes --train emoji.tsv --valid more.tsv --loss logit-laplace --epochs 30 --out vae";
}

}  // namespace headlight::train_image_codes

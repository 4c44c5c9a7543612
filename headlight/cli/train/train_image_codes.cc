// headlight train image-codes: a discrete VAE, which turns images into grids of codes.
#include "headlight/recipes/train_image_codes.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_image_codes {

void Add(Command& train) {
  AddTraining(train, "image-codes", "Train a discrete VAE: images as grids of codes",
              "headlight train text-to-image --vae", TrainImageCodes)
      .footer =
      "\nJPEG, PNG, WebP, BMP, GIF and TIFF are read. An image becomes a grid of codes, of which each stands for a "
      "square of "
      "2^layers\n"
      "pixels. Validations report psnr, in dB, of images decoded from their likeliest codes; codes_used, how many\n"
      "codes they have; and code_perplexity, how many there would be if all were used equally.\n\n"
      "Examples:\n"
      "  headlight train image-codes --train photos --validate-split 0.05 --image-size 64 --codes 1024 --out vae\n"
      "  headlight train image-codes --train emoji.tsv --valid more.tsv --loss logit-laplace --epochs 30 --out vae";
}

}  // namespace headlight::train_image_codes

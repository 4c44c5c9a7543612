// headlight train picture-codes: a discrete VAE, which turns pictures into grids of codes.
#include "headlight/cli/training_command.h"
#include "headlight/recipes/train_image_codes.h"

namespace headlight::train_picture_codes {

void Add(Command& train) {
  AddTraining(train, "picture-codes", "Train a discrete VAE: pictures as grids of codes",
              "headlight train text-to-picture --vae", TrainImageCodes)
      .footer =
      "\nJPEG, PNG and WebP are read. A picture becomes a grid of codes, of which each stands for a square of "
      "2^layers\n"
      "pixels. Validations report psnr, in dB, of pictures decoded from their likeliest codes; codes_used, how many\n"
      "codes they have; and code_perplexity, how many there would be if all were used equally.\n\n"
      "Examples:\n"
      "  headlight train picture-codes --train photos --validate-split 0.05 --image-size 64 --codes 1024 --out vae\n"
      "  headlight train picture-codes --train emoji.tsv --valid more.tsv --loss logit-laplace --epochs 30 --out vae";
}

}  // namespace headlight::train_picture_codes

// headlight train text-to-image: trains a DALL-E model.
#include "headlight/recipes/train_text_to_image.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_text_to_image {

void Add(Command& train) {
  AddTraining(train, "text-to-image", "Train a DALL-E, which generates images from texts", "headlight draw",
              TrainTextToImage)
      .footer =
      "\nThe codes of images are those of the coder (`headlight train image-codes`), whose folder is copied to "
      "vae in the model. The loss is (text + 7 * image) / 8, with the mean losses of text tokens and of image "
      "codes, which validations report as text_loss and image_loss. Of several texts of an image each epoch "
      "uses one.\n\n"
      "Examples:\n"
      "  headlight train image-codes --train photos --validate-split 0.05 --out vae\n"
      "  headlight train tokenizer texts.txt --out words\n"
      "  headlight train text-to-image --train train.tsv --valid val.tsv --vae vae --tokenizer words --out shapes\n"
      "  headlight train text-to-image --train captions.json --images photos --valid val.tsv --from shapes --out m";
}

}  // namespace headlight::train_text_to_image

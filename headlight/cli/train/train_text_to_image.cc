// headlight train text-to-image.
#include "headlight/recipes/train_text_to_image.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_text_to_image {

void Add(Command& train) {
  AddTraining(train, "text-to-image", "Train a DALL-E, which draws images from texts", "headlight draw",
              TrainTextToImage)
      .footer =
      "\nA image's codes are those of the coder (`headlight train image-codes`), whose folder is copied into the "
      "model's\n"
      "as vae. The loss is (text + 7 * image) / 8, the mean losses of a text's tokens and of an image's codes,\n"
      "which validations report beside it as text_loss and image_loss. Of several texts of an image each epoch "
      "draws one.\n\n"
      "Examples:\n"
      "  headlight train text-to-image --train train.tsv --valid val.tsv --vae vae --tokenizer words --out shapes\n"
      "  headlight train text-to-image --train captions.json --images photos --valid val.tsv --from shapes --out m";
}

}  // namespace headlight::train_text_to_image

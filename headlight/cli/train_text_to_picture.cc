// headlight train text-to-picture.
#include "headlight/cli/training_command.h"
#include "headlight/recipes/train_text_to_image.h"

namespace headlight::train_text_to_picture {

void Add(Command& train) {
  AddTraining(train, "text-to-picture", "Train a DALL-E, which draws pictures from texts", "headlight draw",
              TrainTextToImage)
      .footer =
      "\nA picture's codes are those of the coder (`headlight train picture-codes`), whose folder is copied into the "
      "model's\n"
      "as vae. The loss is (text + 7 * picture) / 8, the mean losses of a text's tokens and of a picture's codes,\n"
      "which validations report beside it as text_loss and picture_loss. Of several texts of a picture each epoch "
      "draws one.\n\n"
      "Examples:\n"
      "  headlight train text-to-picture --train train.tsv --valid val.tsv --vae vae --tokenizer words --out shapes\n"
      "  headlight train text-to-picture --train captions.json --images photos --valid val.tsv --from shapes --out m";
}

}  // namespace headlight::train_text_to_picture

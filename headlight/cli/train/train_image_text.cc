// headlight train image-text-pretraining: pretrains a vision-language encoder.
#include "headlight/recipes/train_image_text.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_image_text {

void Add(Command& train) {
  AddTraining(train, "image-text-pretraining",
              "Pretrain a model of texts and regions of images (from scratch a ViLBERT)",
              "headlight train visual-question-answering --from", TrainImageText)
      .footer =
      "\nThe model is trained to predict masked words and the classes of masked regions from the rest of the text "
      "and the image, and to tell whether the text belongs to the image: every second text is that of another "
      "image. Classes of regions are those of the boxes. Its encoder is for --from.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --subword-type wordpiece --out tokens train.txt\n"
      "  headlight train image-text-pretraining --train scenes/captions.en.jsonl --valid more/captions.en.jsonl \\\n   "
      " --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out pretrained";
}

}  // namespace headlight::train_image_text

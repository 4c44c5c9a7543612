// headlight train image-text-pretraining.
#include "headlight/recipes/train_image_text.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_image_text {

void Add(Command& train) {
  AddTraining(train, "image-text-pretraining",
              "Pre-train a model of texts with images' regions (from scratch a ViLBERT)",
              "headlight train visual-question-answering --from", TrainImageText)
      .footer =
      "\nThe model learns to fill in masked words and to name masked regions, whose classes are those of the boxes, "
      "each\n"
      "from the rest of the text and of the image, and to tell whether both belong together: every second text is "
      "that\n"
      "of another image. Its encoder is then one to go on from.\n\n"
      "Example:\n"
      "  headlight train image-text-pretraining --train scenes/captions.en.jsonl --valid more/captions.en.jsonl \\\n"
      "    --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out pretrained";
}

}  // namespace headlight::train_image_text

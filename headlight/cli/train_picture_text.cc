// headlight train picture-text-pretraining.
#include "headlight/cli/training_command.h"
#include "headlight/recipes/train_image_text.h"

namespace headlight::train_picture_text {

void Add(Command& train) {
  AddTraining(train, "picture-text-pretraining",
              "Pre-train a model of texts with pictures' regions (from scratch a ViLBERT)",
              "headlight train visual-question-answering --from", TrainImageText)
      .footer =
      "\nThe model learns to fill in masked words and to name masked regions, whose classes are those of the boxes, "
      "each\n"
      "from the rest of the text and of the picture, and to tell whether both belong together: every second text is "
      "that\n"
      "of another picture. Its encoder is then one to go on from.\n\n"
      "Example:\n"
      "  headlight train picture-text-pretraining --train scenes/captions.en.jsonl --valid more/captions.en.jsonl \\\n"
      "    --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out pretrained";
}

}  // namespace headlight::train_picture_text

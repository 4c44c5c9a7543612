// headlight train captions: trains a model that describes images.
#include "headlight/recipes/train_captions.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_captions {

void Add(Command& train) {
  AddTraining(train, "captions", "Train a model that describes images (from scratch a ViT with a GPT-2)",
              "headlight caption", TrainCaptions)
      .footer =
      "\nImages are resized as --image-size or the folder of --from says, and not augmented, since a flipped "
      "image exchanges left and right. An image with several captions is one example for each. Validations "
      "report the share of greedy captions that equal a caption of their image (exact), and their BLEU against "
      "all captions of the image. The best model is that of the highest exact, or of the lowest loss if exact "
      "is 0, unless --validate-metric names another.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --byte-level --vocabulary-size 8000 --out tokens captions.txt\n"
      "  headlight train captions --train train.tsv --valid valid.tsv --tokenizer tokens --image-size 64 --out model\n"
      "  headlight train captions --train captions.json --images train2017 --valid val.tsv \\\n    "
      "--from vit-gpt2-image-captioning --out model\n"
      "  headlight caption model photos/";
}

}  // namespace headlight::train_captions

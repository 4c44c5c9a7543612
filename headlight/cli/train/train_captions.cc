// headlight train captions.
#include "headlight/recipes/train_captions.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_captions {

void Add(Command& train) {
  AddTraining(train, "captions", "Train a model that describes images (from scratch a ViT with a GPT-2)",
              "headlight caption", TrainCaptions)
      .footer =
      "\nJPEG, PNG, WebP, BMP, GIF and TIFF are read. An image with several captions is an example with each. Images "
      "are resized "
      "and\n"
      "not changed otherwise: a flipped image has another left and right. A validation's scores are the share of\n"
      "greedy captions that are one of their image's word for word, and their BLEU against all captions of a "
      "image.\n"
      "The best model is that of the first, or where none is right of the loss, unless --validate-metric says "
      "otherwise.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --byte-level --vocabulary-size 8000 --out tokens captions.txt\n"
      "  headlight train captions --train train.tsv --valid valid.tsv --tokenizer tokens --image-size 64 --out model\n"
      "  headlight train captions --train captions.json --images train2017 --valid val.tsv --from vit-gpt2 --out m\n"
      "  headlight caption model photos/";
}

}  // namespace headlight::train_captions

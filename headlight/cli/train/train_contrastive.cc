// headlight train contrastive.
#include "headlight/recipes/train_contrastive.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_contrastive {

void Add(Command& train) {
  AddTraining(train, "contrastive", "Train images with texts, or texts with texts, into one space", "headlight embed",
              TrainContrastive)
      .footer =
      "\nA image with several texts is learned with another one in each epoch. The temperature is learned. "
      "Validated\n"
      "among blocks of 1,000 pairs by recall, the share in per cent of images that find their own text first and of\n"
      "texts that find their own image (text_recall, image_recall), or find it among the first ten.\n"
      "Records may name \"near_misses\", as many as captions: texts that are nearly those and false of the image, "
      "from\n"
      "which all images of a batch must tell their own, too, and which validations have among the 1,000.\n\n"
      "An encoder of texts (--from one, or --architecture bert) learns from a text, a tab, its match and perhaps tabs "
      "and\n"
      "hard negatives a line, or JSON lines of {\"anchor\", \"positive\", \"negatives\"}, and becomes a folder that\n"
      "sentence-transformers loads.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --subword-type wordpiece --vocabulary-size 4000 --out tokens captions.txt\n"
      "  headlight train contrastive --train pairs.tsv --valid more.tsv --tokenizer tokens --image-size 64 --out "
      "model\n"
      "  headlight train contrastive --train captions.json --images photos --valid val.json --from clip --out model\n"
      "  headlight train contrastive --train questions.tsv --validate-split 0.05 --from bert --out sentences\n"
      "  headlight classify model photo.jpg --labels 'a red circle' 'a blue square'";
}

}  // namespace headlight::train_contrastive

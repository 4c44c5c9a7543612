// headlight train contrastive: trains a CLIP or SigLIP model, or a sentence encoder.
#include "headlight/recipes/train_contrastive.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_contrastive {

void Add(Command& train) {
  AddTraining(train, "contrastive", "Train embeddings of images and texts, or of texts, by contrastive learning",
              "headlight embed", TrainContrastive)
      .footer =
      "\nOf several texts of an image each epoch uses one. The temperature is trained, too. Validations report "
      "recall among blocks of 1,000 pairs in per cent: how many images have their own text first (image to "
      "text: text_recall), how many texts have their own image first (image_recall), and how many have it among "
      "the first ten.\n\n"
      "Records may have \"hard_negatives\", as many as captions: texts that are similar to the captions but "
      "false. All images of a batch must rank their own text above them, and validations include them among the "
      "1,000.\n\n"
      "A text encoder (--from one, or --family bert) is trained on lines of a text, its match and hard "
      "negatives, separated by tabs, or on JSON lines of {\"anchor\", \"positive\", \"negatives\"}. It becomes "
      "a folder that sentence-transformers loads.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --subword-type wordpiece --vocabulary-size 4000 --out tokens captions.txt\n"
      "  headlight train contrastive --train pairs.tsv --valid more.tsv --tokenizer tokens --image-size 64 --out "
      "model\n"
      "  headlight train contrastive --train captions.json --images photos --valid val.json --from clip --out model\n"
      "  headlight train contrastive --train questions.tsv --validate-split 0.05 --from bert --out sentences\n"
      "  headlight classify model photo.jpg --labels 'a red circle' 'a blue square'";
}

}  // namespace headlight::train_contrastive

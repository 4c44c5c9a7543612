// headlight train translation: trains a translation model on parallel text.
#include "headlight/recipes/train_translation.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_translation {

void Add(Command& train) {
  AddTraining(train, "translation", "Train a translation model on parallel text", "headlight translate",
              TrainTranslation)
      .footer =
      "Examples:\n"
      "  headlight train translation --train train.de train.en --valid val.de val.en --out model --preset multi30k\n"
      "  headlight train translation --train train.jsonl --valid val.jsonl --source-column de --target-column en \\\n"
      "    --out model\n"
      "  headlight train translation --train a.gz b.gz --valid c d --out model --layers 4 --minutes 30 --resume";
}

}  // namespace headlight::train_translation

// headlight train language-model: trains a language model.
#include "headlight/recipes/train_language_model.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_language_model {

void Add(Command& train) {
  AddTraining(train, "language-model", "Train a language model", "headlight generate", TrainLanguageModel).footer =
      "\nA text longer than the model reads is cut into pieces. Files are read by their names or --format.\n\n"
      "Examples:\n"
      "  headlight train language-model --train train.en --valid val.en --tokenizer gpt2 --out model --layers 6\n"
      "  headlight train language-model --train train.en --valid val.en --tokenizer llama3 --family llama --out model\n"
      "  headlight train language-model --train news.jsonl.gz --valid val.jsonl --from model --out further";
}

}  // namespace headlight::train_language_model

// headlight train visual-question-answering: trains a model that answers questions about images.
#include "headlight/recipes/train_visual_question_answering.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_visual_question_answering {

void Add(Command& train) {
  AddTraining(train, "visual-question-answering",
              "Train a model to answer questions about images (from scratch a ViLBERT)", "headlight answer",
              TrainVisualQuestionAnswering)
      .footer =
      "\nAn image is read as a whole and as the pixels of each box. Answers are classes, those of the training "
      "data; others count as wrong. If questions have a \"kind\", validations report the accuracy of each kind. "
      "A model of --from without a head for these answers gets a new head.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --subword-type wordpiece --out tokens train.txt\n"
      "  headlight train visual-question-answering --train scenes/questions.en.jsonl --valid more/questions.en.jsonl "
      "\\\n    --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out model";
}

}  // namespace headlight::train_visual_question_answering

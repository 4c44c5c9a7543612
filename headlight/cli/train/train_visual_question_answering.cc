// headlight train visual-question-answering.
#include "headlight/recipes/train_visual_question_answering.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_visual_question_answering {

void Add(Command& train) {
  AddTraining(train, "visual-question-answering",
              "Train a model to answer questions about images (from scratch a ViLBERT)", "headlight answer",
              TrainVisualQuestionAnswering)
      .footer =
      "\nA image is read as a whole and as the pixels of each box. The answers are those of the training: another "
      "one\n"
      "is never right. Where the questions have a \"kind\", validations report the accuracy of each. --from a model\n"
      "without a head for all answers, such as one that was pre-trained, initialises a new head.\n\n"
      "Example:\n"
      "  headlight train visual-question-answering --train scenes/questions.en.jsonl --valid more/questions.en.jsonl "
      "\\\n"
      "    --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out model";
}

}  // namespace headlight::train_visual_question_answering

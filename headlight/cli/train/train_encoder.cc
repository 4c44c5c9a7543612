// headlight train masked-language-model, classification, tagging, question-answering: the tasks of text encoders.
#include <string>

#include "headlight/cli/train/training_command.h"
#include "headlight/recipes/train_text_encoder.h"

namespace headlight::train_encoder {
namespace {

constexpr const char* kFiles =
    "Files whose names end in .jsonl are JSON lines, in .csv CSV with a header; either may end in .gz. --from a model\n"
    "without a head for the task, or with another one, keeps the encoder and initialises a new head.\n\n";

}  // namespace

void Add(Command& train) {
  AddTraining(train, "masked-language-model",
              "Train a masked language model (from scratch a BERT, or an ESM-2 of proteins)", "headlight fill-mask",
              TrainMaskedLanguageModel)
      .footer =
      "\n" +
      std::string(
          "Other tokens are masked in each epoch. A text longer than the model reads is cut into pieces.\n"
          "Validations report the accuracy on them, and bits_per_mask: of an ESM-2 the bits per residue.\n") +
      kFiles +
      "Examples:\n"
      "  headlight train masked-language-model --train train.en --valid val.en --tokenizer bert --out model\n"
      "  headlight train masked-language-model --preset esm2-8m --train train.fasta --valid val.fasta --out esm";
  AddTraining(train, "classification", "Train a classifier of texts or text pairs (from scratch a BERT)",
              "headlight classify", TrainTextClassifier)
      .footer =
      "\n" +
      std::string(
          "A text longer than the model is refused. \"text_pair\" may be left out. Several classes are an array, or in "
          "text\nand CSV have commas between them; the label of a regression is a number.\n") +
      kFiles +
      "Examples:\n"
      "  headlight train classification --train train.tsv --valid val.tsv --from model --out classifier\n"
      "  headlight train classification --train pairs.jsonl --valid val.jsonl --from roberta --out classifier\n"
      "  headlight train classification --train stsb.csv --valid val.csv --from bert --problem-type regression \\\n"
      "    --label-column score --out similarity";
  AddTraining(train, "tagging", "Train a tagger of words, such as named entities (from scratch a BERT)",
              "headlight tag", TrainTokenClassifier)
      .footer = "\n" +
                std::string(
                    "A line of a CoNLL file is a word and, in the last column, its tag; an empty line ends a sentence, "
                    "and\n-DOCSTART- lines are none. Validated by F1 of spans where all tags are O, B-X or I-X, else "
                    "by\nthe share of right tags. A sentence longer than the model is read in windows, as `tag` "
                    "reads it.\n") +
                kFiles +
                "Examples:\n"
                "  headlight train tagging --train eng.train --valid eng.testa --from bert --out names\n"
                "  headlight train tagging --train train.jsonl --valid val.jsonl --tokenizer tokens --out names\n"
                "  echo 'Ada Lovelace was born in London.' | headlight tag names";
  AddTraining(train, "question-answering", "Train a model to find answers in passages (from scratch a BERT)",
              "headlight answer", TrainQuestionAnswerer)
      .footer =
      "\n" +
      std::string(
          "\"answers\" is a list of {\"text\", \"start\"}, start in characters of the context, or SQuAD's\n"
          "{\"text\": [...], \"answer_start\": [...]}; none: the context does not say. Validated by SQuAD's "
          "F1 and\nexact match. A context longer than the model is read in windows, as `answer` reads "
          "it.\n") +
      kFiles +
      "Examples:\n"
      "  headlight train question-answering --train train.jsonl --valid val.jsonl --from bert --out answerer\n"
      "  headlight answer answerer --question 'Who wrote it?' --context article.txt";
}

}  // namespace headlight::train_encoder

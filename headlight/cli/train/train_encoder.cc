// headlight train masked-language-model, classification, tagging, question-answering: trains text encoders.
#include <string>

#include "headlight/cli/train/training_command.h"
#include "headlight/recipes/train_text_encoder.h"

namespace headlight::train_encoder {
namespace {

constexpr const char* kNewHead =
    "A model of --from without a head for the task, or with another head, keeps its encoder and gets a new head.\n\n";

}  // namespace

void Add(Command& train) {
  AddTraining(train, "masked-language-model",
              "Train a masked language model (from scratch a BERT, or an ESM-2 of proteins)", "headlight fill-mask",
              TrainMaskedLanguageModel)
      .footer =
      "\n" +
      std::string(
          "Each epoch masks other tokens. A text longer than the model reads is cut into pieces. Validations report "
          "the "
          "accuracy and the bits per mask, which are the bits per residue of an ESM-2.\n") +
      kNewHead +
      "Examples:\n"
      "  headlight train masked-language-model --train train.en --valid val.en --tokenizer bert --out model\n"
      "  headlight train masked-language-model --preset esm2-8m --train train.fasta --valid val.fasta --out esm";
  AddTraining(train, "classification", "Train a classifier of texts or text pairs (from scratch a BERT)",
              "headlight classify", TrainTextClassifier)
      .footer =
      "\n" +
      std::string(
          "A text longer than the model reads is an error unless --truncate is given. \"text_pair\" may be missing. "
          "Several labels are an array, or in text and CSV are separated by commas. The label of a regression is a "
          "number.\n") +
      kNewHead +
      "Examples:\n"
      "  headlight train classification --train train.tsv --valid val.tsv --from model --out classifier\n"
      "  headlight train classification --train pairs.jsonl --valid val.jsonl --from roberta-base --out classifier\n"
      "  headlight train classification --train stsb.csv --valid val.csv --from bert --problem-type regression \\\n"
      "    --label-column score --out similarity";
  AddTraining(train, "tagging", "Train a tagger of words, such as named entities (from scratch a BERT)",
              "headlight tag", TrainTokenClassifier)
      .footer = "\n" +
                std::string(
                    "A line of a CoNLL file has a word and, in the last column, its tag. An empty line ends a "
                    "sentence, and -DOCSTART- lines are ignored. Validations report F1 of spans if all tags are O, "
                    "B-X or I-X, else the accuracy. A sentence longer than the model reads is read in windows, as by "
                    "`tag`.\n") +
                kNewHead +
                "Examples:\n"
                "  headlight train tagging --train eng.train --valid eng.testa --from bert --out names\n"
                "  headlight train tokenizer --subword-type wordpiece --out tokens train.txt\n"
                "  headlight train tagging --train train.jsonl --valid val.jsonl --tokenizer tokens --out names\n"
                "  echo 'Ada Lovelace was born in London.' | headlight tag names";
  AddTraining(train, "question-answering", "Train a model to find answers in passages (from scratch a BERT)",
              "headlight answer", TrainQuestionAnswerer)
      .footer =
      "\n" +
      std::string(
          "\"answers\" is a list of {\"text\", \"start\"}, with start in characters of the context, or SQuAD's "
          "{\"text\": [...], \"answer_start\": [...]}. An empty list means that the context has no answer. "
          "Validations report SQuAD's F1 and exact match. A context longer than the model reads is read in windows, "
          "as by `answer`.\n") +
      kNewHead +
      "Examples:\n"
      "  headlight train question-answering --train train.jsonl --valid val.jsonl --from bert --out answerer\n"
      "  headlight answer answerer --question 'Who wrote it?' --context article.txt";
}

}  // namespace headlight::train_encoder

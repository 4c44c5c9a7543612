// headlight train seq2seq, span-corruption, denoising: trains sequence-to-sequence models.
#include "headlight/recipes/train_sequences.h"

#include <memory>
#include <string>

#include "headlight/cli/train/training_command.h"
#include "headlight/io/model_folder.h"

namespace headlight::train_sequences {

void Add(Command& train) {
  const auto pairs = std::make_shared<SequenceToSequenceTraining>();
  Command& command = train.AddCommand("seq2seq", "Train a sequence-to-sequence model (from scratch a BART or a T5)");
  Describe(command, *pairs);
  AddRankTimeout(command);
  command.run = [pairs] {
    const std::string prefix = pairs->prefix.empty() ? "" : " --prefix " + ForShell(pairs->prefix);
    const bool translator =
        !pairs->from_scratch() && OpenModelFolder(pairs->from).config["model_type"].String() == "marian";
    RunTrainingCommand(*pairs, (translator ? "headlight translate" : "headlight summarize") + prefix,
                       [&](const TrainingObserver& observer) { return TrainSequenceToSequence(*pairs, observer); });
  };
  command.footer =
      "\nA text longer than the model reads is an error. Validations report the share of the targets that the "
      "model writes exactly (exact), and the BLEU of greedy outputs. The best model is that of the highest exact, "
      "unless --validate-metric names another, such as bleu for translations.\n\n"
      "Examples:\n"
      "  headlight train seq2seq --train train.jsonl --valid val.jsonl --from flan-t5-small --prefix 'summarize: ' "
      "\\\n    --out model\n"
      "  headlight train tokenizer --byte-level --special '<s>' --special '<pad>' --special '</s>' --special '<mask>' "
      "\\\n    --out tokens train.txt\n"
      "  headlight train seq2seq --train train.tsv --valid val.tsv --tokenizer tokens --out model --layers 3\n"
      "  headlight summarize model articles.txt --prefix 'summarize: '";
  AddTraining(train, "span-corruption", "Pretrain by filling in masked spans, as T5 (from scratch a T5)",
              "headlight train seq2seq --from", TrainSpanCorruption)
      .footer =
      "\nEach epoch masks other spans.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --subword-type unigram --sentinels 100 --out tokens train.en\n"
      "  headlight train span-corruption --train train.en --valid val.en --tokenizer tokens --out model\n"
      "  headlight train span-corruption --train train.en --valid val.en --from t5-small --out model";
  AddTraining(train, "denoising", "Pretrain by denoising texts, as BART (from scratch a BART)",
              "headlight train seq2seq --from", TrainDenoising)
      .footer =
      "\nEach span is replaced by one mask, and sentences are permuted. Each epoch changes other spans and "
      "sentences.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --byte-level --special '<s>' --special '<pad>' --special '</s>' --special '<mask>' "
      "\\\n    --out tokens train.en\n"
      "  headlight train denoising --train train.en --valid val.en --tokenizer tokens --out model\n"
      "  headlight train denoising --train train.en --valid val.en --from bart-base --out model";
}

}  // namespace headlight::train_sequences

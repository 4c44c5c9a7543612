// headlight train folding: trains a model for protein structure prediction.
#include "headlight/recipes/train_folding.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_folding {

void Add(Command& train) {
  AddTraining(train, "folding", "Train a structure prediction model (an AlphaFold 2)", "headlight fold", TrainFolding)
      .footer =
      "\nChains of one file that have the same sequence count once. Without an alignment the sequence of a chain "
      "is its alignment. Templates are aligned by their sequences, and training samples which of them are read. "
      "Sizes without an option follow from the others in the proportions of AlphaFold 2. Validations fold whole "
      "chains with all recycles, and report lddt_ca, tm_score and contact_precision, from 0 to 1.\n\n"
      "Examples:\n"
      "  headlight train folding --train structures --validate-split 0.05 --preset tiny --epochs 50 --out model\n"
      "  headlight train folding --train train.tsv --valid valid.tsv --crop 128 --minutes 180 --out model\n"
      "  headlight train folding --train train.tsv --valid valid.tsv --from model --fine-tuning --out tuned";
}

}  // namespace headlight::train_folding

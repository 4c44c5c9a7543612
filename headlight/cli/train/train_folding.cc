// headlight train folding: protein structures from sequences and alignments.
#include "headlight/recipes/train_folding.h"

#include "headlight/cli/train/training_command.h"

namespace headlight::train_folding {

void Add(Command& train) {
  AddTraining(train, "folding", "Train a model of protein structures (an AlphaFold 2) on known ones", "headlight fold",
              TrainFolding)
      .footer =
      "\nOf the chains of one file those with the same sequence count once. Where a chain has no alignment, its\n"
      "sequence alone is the alignment. Templates are aligned by their sequences; how many of them are read, and "
      "which, is\n"
      "drawn in training. Sizes that have no option follow from these in AlphaFold's proportions.\n"
      "Validations fold whole chains with all recycles and report lddt_ca, tm_score and contact_precision, from 0 to "
      "1.\n\n"
      "Examples:\n"
      "  headlight train folding --train structures --validate-split 0.05 --preset tiny --epochs 50 --out model\n"
      "  headlight train folding --train train.tsv --valid valid.tsv --crop 128 --minutes 180 --out model\n"
      "  headlight train folding --train train.tsv --valid valid.tsv --from model --fine-tuning --out tuned";
}

}  // namespace headlight::train_folding

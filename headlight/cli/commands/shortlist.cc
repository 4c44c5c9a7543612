// headlight shortlist: trains a lexical shortlist, which limits the output vocabulary of translation.
#include <cstdint>
#include <string>

#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/recipes/train_shortlist.h"

namespace headlight::shortlist {
namespace {

TrainedShortlist Train(const ShortlistTraining& options) {
  Progress progress("pairs read");
  return TrainShortlist(options,
                        {.progress = [&](std::int64_t pairs, double share) { progress.ShowShare(pairs, share); }});
}

void Run(const ShortlistTraining& options) {
  CheckOutputs({{"shortlist", ShortlistPath(options)}}, options.train);
  for (const std::string& file : options.train) Input(file);
  const TrainedShortlist made = Train(options);
  Note("{} has {} tokens for every sentence, and {:.1f} for each of {} source tokens, trained on {}{} pairs", made.path,
       made.frequent, static_cast<double>(made.translations) / static_cast<double>(made.source_tokens),
       made.source_tokens, made.all ? "" : "the first ", made.pairs);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "shortlist", "Train a lexical shortlist, which makes translation faster", Run);
  Describe(command, options);
  command.footer =
      "\nWith a shortlist, translation chooses only among likely translations of the source tokens, so that the "
      "output layer computes a fraction of the vocabulary. `translate --shortlist` uses it, and `evaluate "
      "--shortlist` shows its effect on BLEU.\n\n"
      "Examples:\n"
      "  headlight shortlist model --train train.de.gz train.en.gz\n"
      "  headlight translate model --shortlist < news.de";
}

}  // namespace headlight::shortlist

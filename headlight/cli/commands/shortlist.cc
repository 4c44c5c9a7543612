// headlight shortlist: learns a lexical shortlist, which limits the output vocabulary of translation.
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/lines.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/models/family.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/train/learn_shortlist.h"

namespace headlight::shortlist {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> train;
  ShortlistOptions shortlist;
};

std::int64_t CountLines(LineReader& lines) {
  while (lines.Next()) continue;
  return lines.line_number();
}

void Run(const Options& options) {
  const std::string path = options.folder + "/" + kShortlistName;
  CheckOutputs({{"shortlist", path}}, options.train);
  CheckKind<EncoderDecoder>(options.folder);
  const auto loaded = std::dynamic_pointer_cast<const MarianTokenizer>(LoadTokenizer(options.folder));
  Check(loaded != nullptr, "{}: a shortlist is for MarianMT's tokenizers", options.folder);
  const MarianTokenizer& tokenizer = *loaded;
  CheckWritable(path);
  LineReader sources(Input(options.train[0])), targets(Input(options.train[1]));
  Progress progress("pairs read");
  const auto next = [&](EncodedPair& pair) {
    const auto source = sources.Next();
    const auto target = targets.Next();
    if (source.has_value() != target.has_value()) {
      const std::int64_t lines_of_source = CountLines(sources), lines_of_target = CountLines(targets);
      Fail("{} has {} lines, {} has {}: each line needs its translation", sources.name(), lines_of_source,
           targets.name(), lines_of_target);
    }
    if (!source) return false;
    pair.source = tokenizer.Encode(*source, Side::source);
    pair.target = tokenizer.Encode(*target, Side::target);
    if (sources.line_number() % 1'000 == 0) progress.ShowShare(sources.line_number(), sources.share());
    return true;
  };
  const LearnedShortlist learned = LearnShortlist(next, tokenizer.size(), tokenizer.size(), options.shortlist);
  SaveShortlist(learned.shortlist, path, tokenizer.hash());
  Note("{} has {} words for every sentence, and {:.1f} for each of {} source words, learned from {}{} pairs", path,
       learned.shortlist.always.size(),
       static_cast<double>(learned.shortlist.words.size()) / static_cast<double>(tokenizer.size()), tokenizer.size(),
       learned.all ? "" : "the first ", learned.pairs);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "shortlist", "Learn a lexical shortlist, which makes translation faster", Run);
  AddFolder(command, options.folder, "The model's folder; shortlist.safetensors is written to it");
  command
      .Add("--train", options.train,
           "Source and target text, line by line a pair, plain or gzip; best the model's training data")
      .Check(NotEmpty())
      .Required()
      .Values(2)
      .Type("SOURCE TARGET");
  command.Add("--per-word", options.shortlist.per_word, AtLeast(1), "Most translations per source word").ShowDefault();
  command
      .Add("--frequent", options.shortlist.frequent, AtLeast(0),
           "Most frequent target words, allowed in every sentence")
      .ShowDefault();
  command.footer =
      "\nWith a shortlist, a sentence's translation is chosen among the likely translations of its words alone, so\n"
      "that the output layer computes a fraction of the vocabulary. `translate --shortlist` uses it; `evaluate\n"
      "--shortlist` tells what it costs in BLEU.\n\n"
      "Example:\n"
      "  headlight shortlist model --train train.de.gz train.en.gz\n"
      "  headlight translate model --shortlist < news.de";
}

}  // namespace headlight::shortlist

#include "headlight/recipes/train_shortlist.h"

#include <filesystem>
#include <memory>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/lines.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/models/family.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"

namespace headlight {
namespace {

std::int64_t CountLines(LineReader& lines) {
  while (lines.Next()) continue;
  return lines.line_number();
}

}  // namespace

void Describe(OptionTable& table, ShortlistTraining& options) {
  table.Add("DIR", options.folder, "The model's folder; shortlist.safetensors is written to it").Required().Model();
  table
      .Add("--train", options.train,
           "Source and target text, aligned line by line, plain or gzip; best the model's training data")
      .Check(NotEmpty())
      .Required()
      .Values(2)
      .Type("SOURCE TARGET");
  table.Add("--per-word", options.shortlist.per_word, AtLeast(1), "Most translations per source word").ShowDefault();
  table
      .Add("--frequent", options.shortlist.frequent, AtLeast(0),
           "Most frequent target words, allowed in every sentence")
      .ShowDefault();
}

std::string ShortlistPath(const ShortlistTraining& options) { return options.folder + "/" + kShortlistName; }

TrainedShortlist TrainShortlist(const ShortlistTraining& options, const ShortlistTrainingObserver& observer) {
  Check(options.train.size() == 2, "`train` must be two files, of source and of target text, not {}",
        options.train.size());
  CheckKind<EncoderDecoder>(options.folder);
  const auto tokenizer = std::dynamic_pointer_cast<const MarianTokenizer>(LoadTokenizer(options.folder));
  Check(tokenizer != nullptr, "{}: a shortlist is for MarianMT's tokenizers", options.folder);
  const std::string path = ShortlistPath(options);
  { const AtomicFile probe(path); }  // throws Error if the file cannot be written
  LineReader sources(options.train[0]), targets(options.train[1]);
  const auto next = [&](EncodedPair& pair) {
    const auto source = sources.Next();
    const auto target = targets.Next();
    if (source.has_value() != target.has_value()) {
      const std::int64_t lines_of_source = CountLines(sources), lines_of_target = CountLines(targets);
      Fail("{} has {} lines, {} has {}: each line needs its translation", sources.name(), lines_of_source,
           targets.name(), lines_of_target);
    }
    if (!source) return false;
    pair.source = tokenizer->Encode(*source, Side::source);
    pair.target = tokenizer->Encode(*target, Side::target);
    if (observer.progress && sources.line_number() % 1'000 == 0)
      observer.progress(sources.line_number(), sources.share());
    return true;
  };
  const LearnedShortlist learned = LearnShortlist(next, tokenizer->size(), tokenizer->size(), options.shortlist);
  // The target of a symbolic link, as in a hub's cache, may be shared with other revisions.
  if (std::filesystem::is_symlink(path)) std::filesystem::remove(path);
  SaveShortlist(learned.shortlist, path, tokenizer->hash());
  return {.path = path,
          .frequent = std::ssize(learned.shortlist.always),
          .translations = std::ssize(learned.shortlist.words),
          .source_tokens = tokenizer->size(),
          .pairs = learned.pairs,
          .all = learned.all};
}

}  // namespace headlight

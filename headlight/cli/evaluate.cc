// headlight evaluate: BLEU, chrF and loss of a model on a test set.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/cli/translation_options.h"
#include "headlight/data/lines.h"
#include "headlight/tasks/translator.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/chrf.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/train/tasks/teacher_forcing.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, source, reference, output;
  bool lowercase = false, json = false;
  TranslateOptions translate;
  LoadOptions load;
};

std::vector<std::string> TranslateAll(const Translator& translator, const std::vector<std::string>& sources,
                                      const TranslateOptions& options) {
  constexpr std::size_t kLines = 512;  // between updates of the progress
  Progress progress("lines translated");
  std::vector<std::string> translations;
  for (std::size_t begin = 0; begin < sources.size(); begin += kLines) {
    const auto some = std::span(sources).subspan(begin, std::min(kLines, sources.size() - begin));
    for (auto& candidates : translator.TranslateBatch(some, options)) {
      if (!candidates.front().complete)
        Note("line {}: the translation reached the longest length and may be incomplete", translations.size() + 1);
      translations.push_back(std::move(candidates.front().text));
    }
    progress.Show(static_cast<std::int64_t>(translations.size()), static_cast<std::int64_t>(sources.size()));
  }
  return translations;
}

// The loss of the references. Pairs longer than the model's positions are left out, with a note.
ReferenceLoss LossOf(const Translator& translator, const std::vector<std::string>& source_texts,
                     const std::vector<std::string>& references) {
  const Tokenizer& tokenizer = translator.tokenizer();
  const auto positions = static_cast<std::size_t>(translator.model().limits().positions);
  std::vector<std::vector<std::int32_t>> sources, targets;
  for (std::size_t i = 0; i < source_texts.size(); ++i) {
    std::vector<std::int32_t> source = tokenizer.before(), target = tokenizer.before();
    const std::vector<std::int32_t> read = tokenizer.Encode(source_texts[i], Side::source);
    const std::vector<std::int32_t> written = tokenizer.Encode(references[i], Side::target);
    source.insert(source.end(), read.begin(), read.end());
    target.insert(target.end(), written.begin(), written.end());
    if (std::max(source.size(), target.size()) >= positions) continue;  // with the end
    sources.push_back(std::move(source));
    targets.push_back(std::move(target));
  }
  if (const std::size_t too_long = source_texts.size() - sources.size(); too_long > 0)
    Note("{} pairs are too long for the model, and not in the loss", too_long);
  return LossOfPairs(translator.model(), sources, targets);
}

void Run(const Options& options) {
  const std::vector<std::string> sources = ReadLines(options.source), references = ReadLines(options.reference);
  Check(!sources.empty(), "{}: has no lines", options.source);
  Check(sources.size() == references.size(), "{} has {} lines and {} has {}: each source needs its reference",
        options.source, sources.size(), options.reference, references.size());
  CheckOutputs({{"--output", options.output}}, {options.folder, options.source, options.reference});
  if (!options.output.empty()) CheckWritable(options.output);
  const Translator translator = Translator::Load(options.folder, options.load);
  Check(translator.tokenizer().after() == std::vector{translator.model().limits().end_id},
        "{}: the loss of a model whose texts have more behind them than an end is not supported", options.folder);
  const std::vector<std::string> translations = TranslateAll(translator, sources, options.translate);
  if (!options.output.empty()) {
    std::string text;
    for (const std::string& translation : translations) text += translation + '\n';
    WriteFile(options.output, text);
  }
  const std::vector<std::vector<std::string>> all_references = {references};
  const Bleu bleu = CorpusBleu(translations, all_references, options.lowercase);
  const Chrf chrf = CorpusChrf(translations, all_references, options.lowercase);
  const ReferenceLoss loss = LossOf(translator, sources, references);
  if (options.json) {
    const Json json = Json::Object{{"bleu", bleu.score},           {"bleu_signature", bleu.signature},
                                   {"chrf", chrf.score},           {"chrf_signature", chrf.signature},
                                   {"loss", loss.mean()},          {"perplexity", std::exp(loss.mean())},
                                   {"target_tokens", loss.tokens}, {"lines", sources.size()}};
    return WriteResult(json.Line() + "\n");
  }
  WriteResult(fmt::format("{}\n{}\nloss {:.4f}, perplexity {:.3f} of {} target tokens\n", ToString(bleu),
                          ToString(chrf), loss.mean(), std::exp(loss.mean()), loss.tokens));
}

}  // namespace

void AddEvaluate(CLI::App& program) {
  const auto [command, options] =
      NewCommand(program, "evaluate", "Translate a test set and score it: BLEU, chrF, loss", Run);
  command.add_option("DIR", options.folder, "The model's folder")->required()->check(Folder());
  command.add_option("--source", options.source, "Text to translate, a sentence per line")
      ->check(NotEmpty())
      ->required()
      ->type_name("FILE");
  command.add_option("--reference", options.reference, "Its reference translation")
      ->check(NotEmpty())
      ->required()
      ->type_name("FILE");
  command.add_flag("--lowercase", options.lowercase, "BLEU and chrF ignore case");
  command.add_option("--output", options.output, "Write the model's translations to this file")
      ->check(NotEmpty())
      ->type_name("FILE");
  AddTranslationOptions(command, options.load, options.translate);
  command.add_flag("--json", options.json, "Print one JSON object");
  command.footer(
      "\nThe loss is the mean negative log-probability (natural logarithm) of the reference's tokens, without label\n"
      "smoothing; the perplexity its exponential.\n\n"
      "Example:\n"
      "  headlight evaluate model --source test.de --reference test.en --beam-size 5 --length-penalty 0.6");
}

}  // namespace headlight

// headlight evaluate: how well a model translates text whose translation is known.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_options.h"
#include "headlight/data/lines.h"
#include "headlight/io/json.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/serve/translator.h"
#include "headlight/text/bleu.h"
#include "headlight/text/chrf.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, source, reference, output;
  bool lowercase = false, json = false;
  TranslateOptions translate;
};

struct Loss {
  double sum = 0;                         // of the target tokens' negative log-probabilities
  std::int64_t tokens = 0, too_long = 0;  // too_long: pairs that the model cannot read
  double mean() const { return sum / static_cast<double>(std::max<std::int64_t>(1, tokens)); }
};

std::vector<std::string> TranslateAll(const Translator& translator, const std::vector<std::string>& sources,
                                      const TranslateOptions& options) {
  constexpr std::size_t kLines = 512;  // between two looks at the progress
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

// The loss of the references, each token of which, the end included, is predicted from those before it.
Loss LossOf(const Translator& translator, const std::vector<std::string>& sources,
            const std::vector<std::string>& references) {
  const EncoderDecoder& model = translator.model();
  const EncoderDecoder::Limits& limits = model.limits();
  Loss loss;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::int32_t> source = translator.tokenizer().Encode(sources[i], Side::source);
    std::vector<std::int32_t> labels = translator.tokenizer().Encode(references[i], Side::target);
    std::vector<std::int32_t> inputs = {limits.start_id};
    inputs.insert(inputs.end(), labels.begin(), labels.end());
    source.push_back(limits.end_id);
    labels.push_back(limits.end_id);
    if (static_cast<std::int64_t>(std::max(source.size(), labels.size())) > limits.positions) {
      ++loss.too_long;
      continue;
    }
    Context context;
    const Sequences read = {{0, static_cast<std::int32_t>(source.size())}};
    const Sequences written = {{0, static_cast<std::int32_t>(inputs.size())}};
    const Tensor hidden = model.Decode(context, inputs, written, {model.Encode(context, source, read), read});
    const Tensor sum = ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), model.OutputBias(context),
                                                   labels, /*label_smoothing=*/0, /*scale=*/1);
    loss.sum += static_cast<double>(sum.data<float>()[0]);
    loss.tokens += static_cast<std::int64_t>(labels.size());
  }
  return loss;
}

void Run(const Options& options) {
  const std::vector<std::string> sources = ReadLines(options.source), references = ReadLines(options.reference);
  Check(!sources.empty(), "{}: has no lines", options.source);
  Check(sources.size() == references.size(), "{} has {} lines and {} has {}: each source needs its reference",
        options.source, sources.size(), options.reference, references.size());
  if (!options.output.empty()) CheckWritable(options.output);
  const Translator translator = Translator::Load(options.folder);
  const std::vector<std::string> translations = TranslateAll(translator, sources, options.translate);
  if (!options.output.empty()) {
    std::string text;
    for (const std::string& translation : translations) text += translation + '\n';
    WriteFile(options.output, text);
  }
  const std::vector<std::vector<std::string>> all_references = {references};
  const Bleu bleu = CorpusBleu(translations, all_references, options.lowercase);
  const Chrf chrf = CorpusChrf(translations, all_references, options.lowercase);
  const Loss loss = LossOf(translator, sources, references);
  if (loss.too_long > 0) Note("{} pairs are too long for the model, and not in the loss", loss.too_long);
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
  CLI::App& command = *program.add_subcommand("evaluate", "Translate a test set and score it: BLEU, chrF, loss");
  const auto options = std::make_shared<Options>();
  command.add_option("DIR", options->folder, "The model's folder")->required();
  command.add_option("--source", options->source, "The text to translate, a sentence a line")
      ->required()
      ->type_name("FILE");
  command.add_option("--reference", options->reference, "Its translation")->required()->type_name("FILE");
  command.add_flag("--lowercase", options->lowercase, "BLEU and chrF do not tell upper and lower case apart");
  command.add_option("--output", options->output, "Write the model's translations there")->type_name("FILE");
  AddTranslationOptions(command, options->translate);
  command.add_flag("--json", options->json, "Print JSON");
  AddCommonOptions(command);
  command.footer(
      "\nThe loss is the mean negative log-probability (natural logarithm) of the reference's tokens, without label\n"
      "smoothing; the perplexity its exponential.\n\n"
      "Example:\n"
      "  headlight evaluate model --source test.de --reference test.en --beam-size 5 --length-penalty 0.6");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight

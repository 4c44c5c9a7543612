// headlight bleu: BLEU and chrF of given translations.
#include "headlight/text/metrics/bleu.h"

#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/lines.h"
#include "headlight/text/metrics/chrf.h"

namespace headlight::bleu {
namespace {

struct Options {
  std::vector<std::string> references;
  bool lowercase = false, chrf = false, json = false;
};

void Run(const Options& options) {
  std::vector<std::string> inputs = options.references;
  inputs.emplace_back("-");
  CheckOutputs({}, inputs);
  std::vector<std::vector<std::string>> references;
  for (const std::string& path : options.references) references.push_back(ReadLines(path));
  const std::vector<std::string> hypotheses = ReadLines(Input("-"));
  const Progress progress("scoring");
  const Bleu bleu = CorpusBleu(hypotheses, references, options.lowercase);
  const Chrf chrf = options.chrf ? CorpusChrf(hypotheses, references, options.lowercase) : Chrf();
  if (options.json) {
    Json json = Json::Object{{"bleu", bleu.score}, {"bleu_signature", bleu.signature}};
    if (options.chrf) json.Set("chrf", chrf.score);
    if (options.chrf) json.Set("chrf_signature", chrf.signature);
    return WriteResult(json.Line() + "\n");
  }
  WriteResult(ToString(bleu) + "\n");
  if (options.chrf) WriteResult(ToString(chrf) + "\n");
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "bleu", "Score translations by BLEU and chrF, as sacreBLEU", Run);
  command
      .Add("--reference", options.references, "Reference translations, a line for each line of input; may be repeated")
      .Required()
      .Type("FILE");
  command.Add("--lowercase", options.lowercase, "Ignore case");
  command.Add("--chrf", options.chrf, "Print chrF as well");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nReads translations from standard input. Tokenization 13a, exponential smoothing.\n\n"
      "Examples:\n"
      "  headlight bleu --reference test.en < translations\n"
      "  headlight bleu --reference first.en --reference second.en --lowercase --chrf < translations";
}

}  // namespace headlight::bleu

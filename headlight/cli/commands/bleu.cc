// headlight bleu: scores translations by BLEU, chrF and TER.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/text_reader.h"
#include "headlight/recipes/translation_metrics.h"
#include "headlight/text/metrics/bootstrap.h"

namespace headlight::bleu {
namespace {

using Statistics = std::vector<std::vector<double>>;  // statistics of each line

struct Options {
  std::vector<std::string> references;
  TranslationMetricOptions metrics{.metrics = {"bleu"}};
  std::string baseline;
  TextSource source = {.asked = TextsAsked::reference};  // describes the references; the input has the same format
  std::int64_t samples = kBootstrapSamples;
  std::uint64_t seed = kBootstrapSeed;
  bool chrf = false, sentences = false, json = false;
};

void WriteSentences(const std::vector<TranslationMetric>& metrics, const std::vector<Statistics>& statistics) {
  for (std::size_t line = 0; line < statistics.front().size(); ++line) {
    Json json = Json::Object{{"line", line + 1}};
    for (std::size_t i = 0; i < metrics.size(); ++i)
      json.Set(metrics[i].keys.name, metrics[i].sentence_score(statistics[i][line]));
    WriteResult(json.Line() + "\n");
  }
}

// Adds the number of bootstrap samples and the seed to a signature, as sacreBLEU does.
std::string WithSamples(const std::string& text, const Options& options) {
  constexpr std::string_view kBefore = "|case:";
  const std::size_t at = text.find(kBefore);
  Ensure(at != std::string::npos, "a signature without case: {}", text);
  return fmt::format("{}|bs:{}|seed:{}{}", text.substr(0, at), options.samples, options.seed, text.substr(at));
}

void Run(const Options& options) {
  std::vector<std::string> inputs = options.references;
  inputs.insert(inputs.end(), {"-", options.baseline});
  CheckOutputs({}, inputs);
  TranslationMetricOptions of_metrics = options.metrics;
  if (options.chrf) of_metrics.metrics.emplace_back("chrf");
  const std::vector<TranslationMetric> metrics = MakeTranslationMetrics(of_metrics, options.references.size());
  std::vector<std::vector<std::string>> references;
  for (const std::string& path : options.references) references.push_back(AllTexts(path, options.source));
  const TextSource written = {.format = options.source.format, .asked = TextsAsked::reference};
  std::vector<std::string> baseline;
  if (!options.baseline.empty()) baseline = AllTexts(options.baseline, written);
  const std::vector<std::string> hypotheses = AllTexts(Input("-"), written);
  Check(options.baseline.empty() || baseline.size() == hypotheses.size(),
        "--baseline {} has {} lines, and the hypothesis {}; they must have the same number", options.baseline,
        baseline.size(), hypotheses.size());
  const Progress progress("scoring");
  std::vector<Statistics> statistics;
  for (const TranslationMetric& metric : metrics)
    statistics.push_back(StatisticsOfLines(metric, hypotheses, references));
  if (options.sentences) return WriteSentences(metrics, statistics);

  Json json = Json::Object{};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const TranslationMetric& metric = metrics[i];
    const std::vector<double> sums = SumOfLines(statistics[i]);
    std::string text = metric.text(sums), signature = metric.signature;
    json.Set(metric.keys.name, metric.score(sums));
    if (!baseline.empty()) {
      const Statistics others = StatisticsOfLines(metric, baseline, references);
      const double score = metric.score(SumOfLines(others));
      const PairedBootstrap paired = ComparePaired(statistics[i], others, metric.score, options.samples, options.seed);
      text = WithSamples(text, options);
      text += fmt::format("\n  mean {:.2f} ± {:.2f}; baseline {:.2f}, mean {:.2f} ± {:.2f}; p = {:.4f}",
                          paired.system.mean, paired.system.half_width, score, paired.baseline.mean,
                          paired.baseline.half_width, paired.p_value);
      signature = WithSamples(signature, options);
      json.Set(metric.keys.paired, Json::Object{{"mean", paired.system.mean},
                                                {"half_width", paired.system.half_width},
                                                {"baseline", score},
                                                {"baseline_mean", paired.baseline.mean},
                                                {"baseline_half_width", paired.baseline.half_width},
                                                {"p_value", paired.p_value}});
    }
    json.Set(metric.keys.signature, signature);
    if (!options.json) WriteResult(text + "\n");
  }
  if (options.json) WriteResult(json.Line() + "\n");
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "bleu", "Score translations by BLEU, chrF and TER, as sacreBLEU does", Run);
  command
      .Add("--reference", options.references,
           "Reference translations, one line or record (see --format) for each translation on standard input; may be "
           "repeated")
      .Required()
      .Type("FILE");
  Describe(command, options.metrics);
  command.Add("--chrf", options.chrf, "Add chrf to the metrics").Group("");
  Option& baseline = command.AddFile(
      "--baseline", options.baseline,
      "Compare with these translations of another system by paired bootstrap resampling: print means with half the "
      "width of their 95% interval, and the p-value of the difference");
  command.Add("--samples", options.samples, Between(1, 1'000'000), "Bootstrap samples").ShowDefault().Needs(baseline);
  command.Add("--seed", options.seed, Seed(), "Seed of the samples, as SACREBLEU_SEED").ShowDefault().Needs(baseline);
  Option& sentences = command
                          .Add("--sentence-level", options.sentences,
                               "Print one JSON object per line of input, with the number and the scores of the line; "
                               "BLEU has effective order")
                          .Excludes(baseline);
  command.Add("--json", options.json, "Print one JSON object").Excludes(sentences);
  Describe(command, options.source);
  command.footer =
      "\nTranslations are read from standard input, as lines or in the format of --format. BLEU has exponential "
      "smoothing. Of the scores only TER is better if lower. Scores, signatures and bootstrap samples equal "
      "those of sacreBLEU.\n\n"
      "Examples:\n"
      "  headlight bleu --reference test.en < translations\n"
      "  headlight bleu --reference first.en --reference second.en --lowercase --metric bleu chrf++ ter < "
      "translations\n"
      "  headlight bleu --reference test.jsonl --text-column en < translations\n"
      "  headlight bleu --reference test.zh --tokenization zh < translations\n"
      "  headlight bleu --reference test.en --baseline old_translations < translations";
}

}  // namespace headlight::bleu

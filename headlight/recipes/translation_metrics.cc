#include "headlight/recipes/translation_metrics.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "headlight/base/error.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/chrf.h"
#include "headlight/text/metrics/ter.h"
#include "headlight/text/tokenizers/sentencepiece_pieces.h"

namespace headlight {
namespace {

const std::vector<std::string>& MetricNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const TranslationMetricKeys& keys : kTranslationMetrics) all.emplace_back(keys.name);
    return all;
  }();
  return names;
}

TranslationMetric MakeBleu(const TranslationMetricOptions& options, std::size_t references) {
  const BleuOptions corpus{
      .lowercase = options.lowercase,
      .tokenizer = options.spm.empty() ? MakeBleuTokenizer(options.tokenization) : ReadBleuTokenizer(options.spm)};
  BleuOptions sentence = corpus;
  sentence.effective_order = true;
  TranslationMetric metric{.keys = kTranslationMetrics[0],
                           .signature = BleuSignature(references, corpus),
                           .sentence_signature = BleuSignature(references, sentence),
                           .statistics = {},
                           .score = [](std::span<const double> sums) { return BleuOf(sums, false).score; },
                           .sentence_score = [](std::span<const double> sums) { return BleuOf(sums, true).score; },
                           .text = {}};
  metric.statistics = [corpus](std::string_view hypothesis, std::span<const std::string_view> others) {
    const auto statistics = BleuStatistics(hypothesis, others, corpus);
    return std::vector<double>(statistics.begin(), statistics.end());
  };
  metric.text = [signature = metric.signature](std::span<const double> sums) {
    Bleu bleu = BleuOf(sums, false);
    bleu.signature = signature;
    return ToString(bleu);
  };
  return metric;
}

TranslationMetric MakeChrf(const ChrfOptions& options, std::size_t references) {
  const std::string signature = ChrfSignature(references, options);
  return {.keys = kTranslationMetrics[options.words ? 2 : 1],
          .signature = signature,
          .sentence_signature = signature,
          .statistics =
              [options](std::string_view hypothesis, std::span<const std::string_view> others) {
                return ChrfStatistics(hypothesis, others, options);
              },
          .score = ChrfOf,
          .sentence_score = ChrfOf,
          .text =
              [=](std::span<const double> sums) {
                return ToString(Chrf{ChrfOf(sums), options.words, signature});
              }};
}

TranslationMetric MakeTer(std::size_t references) {
  const std::string signature = TerSignature(references);
  return {
      .keys = kTranslationMetrics[3],
      .signature = signature,
      .sentence_signature = signature,
      .statistics =
          [](std::string_view hypothesis, std::span<const std::string_view> others) {
            const auto statistics = TerStatistics(hypothesis, others);
            return std::vector<double>(statistics.begin(), statistics.end());
          },
      .score = TerOf,
      .sentence_score = TerOf,
      .text =
          [=](std::span<const double> sums) {
            return ToString(Ter{.score = TerOf(sums), .edits = 0, .reference_length = sums[1], .signature = signature});
          }};
}

}  // namespace

void Describe(OptionTable& table, TranslationMetricOptions& options) {
  std::string shown;
  for (const std::string& name : options.metrics) shown += (shown.empty() ? "" : " ") + name;
  table
      .Add("--metric", options.metrics, OneOf(MetricNames()),
           "Scores of translations: bleu, chrf, chrf++ (with words) and ter, of which several may be named")
      .Type("NAME")
      .Default(shown)
      .HasValueIf([&options, initial = options.metrics] { return options.metrics != initial; });
  const std::vector<std::string> names(std::begin(kBleuTokenizations), std::end(kBleuTokenizations));
  Option& tokenization =
      table
          .Add("--tokenization", options.tokenization, OneOf(names),
               "How BLEU splits a line into words: by the rules of mteval-v13a, zh for Chinese, intl by Unicode's "
               "punctuation, "
               "into each char, or none, between spaces")
          .Type("13a|zh|intl|char|none")
          .ShowDefault()
          .HasValueIf([&options, initial = options.tokenization] { return options.tokenization != initial; });
  table.AddFile("--spm", options.spm, "Instead: BLEU of the pieces of this SentencePiece model, as spBLEU")
      .Excludes(tokenization);
  table.Add("--lowercase", options.lowercase, "BLEU and chrF ignore case; TER always does");
}

BleuTokenizer ReadBleuTokenizer(const std::string& path) {
  return MakeBleuTokenizer("spm-" + std::filesystem::path(path).stem().string(), ReadSentencePieces(path));
}

std::vector<TranslationMetric> MakeTranslationMetrics(const TranslationMetricOptions& options, std::size_t references) {
  std::vector<TranslationMetric> metrics;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(metrics, [&](const TranslationMetric& metric) { return metric.keys.name == name; });
  };
  for (const std::string& name : options.metrics) {
    if (has(name)) continue;
    if (name == "bleu")
      metrics.push_back(MakeBleu(options, references));
    else if (name == "chrf" || name == "chrf++")
      metrics.push_back(MakeChrf({.lowercase = options.lowercase, .words = name == "chrf++"}, references));
    else if (name == "ter")
      metrics.push_back(MakeTer(references));
    else
      Fail("`metric` must be {}, not \"{}\"", Alternatives(MetricNames()), name);
  }
  Check(has("bleu") || (options.spm.empty() && options.tokenization == "13a"),
        "`{}` is for BLEU, which is not in `metric`", options.spm.empty() ? "tokenization" : "spm");
  return metrics;
}

std::vector<std::vector<double>> StatisticsOfLines(const TranslationMetric& metric,
                                                   std::span<const std::string> hypotheses,
                                                   std::span<const std::vector<std::string>> references) {
  CheckSameLines(hypotheses, references);
  std::vector<std::vector<double>> lines;
  std::vector<std::string_view> line_references(references.size());
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    for (std::size_t r = 0; r < references.size(); ++r) line_references[r] = references[r][line];
    lines.push_back(metric.statistics(hypotheses[line], line_references));
  }
  return lines;
}

std::vector<double> SumOfLines(const std::vector<std::vector<double>>& lines) {
  Check(!lines.empty(), "there is no line to sum");
  std::vector<double> sums(lines.front().size());
  for (const std::vector<double>& line : lines) std::ranges::transform(sums, line, sums.begin(), std::plus<>());
  return sums;
}

}  // namespace headlight

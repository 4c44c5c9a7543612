// Translation metrics by name, for `headlight bleu` and `headlight evaluate`.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/option_table.h"
#include "headlight/text/metrics/bleu_tokenizer.h"

namespace headlight {

/// A metric's name, and the JSON keys of the metric's signature and of the comparison with another system.
struct TranslationMetricKeys {
  const char *name, *signature, *paired;
};
inline constexpr TranslationMetricKeys kTranslationMetrics[] = {{"bleu", "bleu_signature", "bleu_paired"},
                                                                {"chrf", "chrf_signature", "chrf_paired"},
                                                                {"chrf++", "chrf++_signature", "chrf++_paired"},
                                                                {"ter", "ter_signature", "ter_paired"}};

struct TranslationMetricOptions {
  std::vector<std::string> metrics = {};  ///< names from kTranslationMetrics
  std::string tokenization = "13a";       ///< one of kBleuTokenizations
  std::string spm = {};                   ///< file of a SentencePiece model, instead of `tokenization`
  bool lowercase = false;                 ///< TER always ignores case
};

/// Describes --metric, --tokenization, --spm and --lowercase. `options` must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, TranslationMetricOptions& options);

/// A score that is a function of statistics summed over lines.
struct TranslationMetric {
  TranslationMetricKeys keys;
  std::string signature, sentence_signature;  ///< in sacreBLEU's format
  std::function<std::vector<double>(std::string_view hypothesis, std::span<const std::string_view> references)>
      statistics;
  std::function<double(std::span<const double> sums)> score, sentence_score;
  std::function<std::string(std::span<const double> sums)> text;  ///< the score in sacreBLEU's format
};

/// Reads a SentencePiece model as a tokenizer for BLEU. The tokenizer's name is "spm-" followed by the file's
/// name without folder and extension. Throws Error naming the file and the problem.
HEADLIGHT_API BleuTokenizer ReadBleuTokenizer(const std::string& path);

/// Returns each distinct metric of the options, in order. Throws Error for an unknown name and for an invalid file.
HEADLIGHT_API std::vector<TranslationMetric> MakeTranslationMetrics(const TranslationMetricOptions& options,
                                                                    std::size_t references);

/// Returns the metric's statistics of each line. Arguments and errors are as in CorpusBleu.
HEADLIGHT_API std::vector<std::vector<double>> StatisticsOfLines(const TranslationMetric& metric,
                                                                 std::span<const std::string> hypotheses,
                                                                 std::span<const std::vector<std::string>> references);
HEADLIGHT_API std::vector<double> SumOfLines(const std::vector<std::vector<double>>& lines);

}  // namespace headlight

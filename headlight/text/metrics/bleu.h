// Corpus BLEU (Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation", 2002), with the same
// values as sacreBLEU 2.6.0 (Post, "A Call for Clarity in Reporting BLEU Scores", 2018).
//   fmt::print("{}\n", ToString(CorpusBleu(translations, {&references, 1})));  // both std::vector<std::string>
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/metrics/bleu_tokenizer.h"

namespace headlight {

struct BleuOptions {
  bool lowercase = false;
  BleuTokenizer tokenizer = MakeBleuTokenizer("13a");
  /// If true, uses only the n-gram orders for which the hypothesis is long enough, as in sacreBLEU for single
  /// sentences.
  bool effective_order = false;
};

struct Bleu {
  double score = 0;                       ///< 0 to 100
  std::array<double, 4> precisions{};     ///< percent, for 1-grams to 4-grams; smoothed if no n-gram matches
  std::array<std::int64_t, 4> matches{};  ///< n-grams of the hypotheses that also occur in the references
  std::array<std::int64_t, 4> totals{};   ///< n-grams of the hypotheses
  double brevity_penalty = 0;
  std::int64_t hypothesis_length = 0,
               reference_length = 0;  ///< in words; the sum over all lines, with the reference nearest in length
  std::string signature;              ///< the settings, in sacreBLEU's format
};

/// Computes corpus BLEU with exponential smoothing. hypotheses[i] is compared with references[r][i] for all r, and
/// `references` must not be empty. Throws Error if there are no lines, if the line counts differ, or if a line is not
/// UTF-8.
HEADLIGHT_API Bleu CorpusBleu(std::span<const std::string> hypotheses,
                              std::span<const std::vector<std::string>> references, const BleuOptions& options = {});

/// The number of statistics per line. The BLEU of a corpus is computed from the sums of the statistics.
inline constexpr std::size_t kBleuStatistics = 10;  ///< two lengths, then the matches and totals of each order
HEADLIGHT_API std::array<double, kBleuStatistics> BleuStatistics(std::string_view hypothesis,
                                                                 std::span<const std::string_view> references,
                                                                 const BleuOptions& options);
/// Computes the score from sums of statistics, without the signature.
HEADLIGHT_API Bleu BleuOf(std::span<const double> sums, bool effective_order);
HEADLIGHT_API std::string BleuSignature(std::size_t references, const BleuOptions& options);

/// Formats the score like sacreBLEU: "BLEU|SIGNATURE = 41.02 72.1/48.0/33.5/23.9 (BP = 0.981 ratio = 0.982 hyp_len =
/// ...)".
HEADLIGHT_API std::string ToString(const Bleu& bleu);

/// Checks the arguments of CorpusBleu, CorpusChrf and CorpusTer. Throws the same errors as these functions.
HEADLIGHT_API void CheckSameLines(std::span<const std::string> hypotheses,
                                  std::span<const std::vector<std::string>> references);

}  // namespace headlight

// Corpus chrF2 and chrF2++ (Popovic, "chrF: character n-gram F-score for automatic MT evaluation", 2015; "chrF++: words
// helping character n-grams", 2017), with the same values as sacreBLEU 2.6.0. Both metrics use character 1-grams to
// 6-grams without white space. chrF++ also uses word 1-grams and 2-grams. Recall has twice the weight of precision.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct ChrfOptions {
  bool lowercase = false;
  bool words = false;  ///< if true, computes chrF++
};

struct Chrf {
  double score = 0;       ///< 0 to 100
  bool words = false;     ///< true for chrF++
  std::string signature;  ///< the settings, in sacreBLEU's format
};

/// Computes corpus chrF. The arguments and errors are the same as for CorpusBleu. For each line, uses the reference
/// with the best score.
HEADLIGHT_API Chrf CorpusChrf(std::span<const std::string> hypotheses,
                              std::span<const std::vector<std::string>> references, const ChrfOptions& options = {});

/// Computes the statistics of a line, three for each order. The chrF of a corpus is computed from the sums of the
/// statistics.
HEADLIGHT_API std::vector<double> ChrfStatistics(std::string_view hypothesis,
                                                 std::span<const std::string_view> references,
                                                 const ChrfOptions& options);
HEADLIGHT_API double ChrfOf(std::span<const double> sums);
HEADLIGHT_API std::string ChrfSignature(std::size_t references, const ChrfOptions& options);

/// Formats the score like sacreBLEU: "chrF2|SIGNATURE = 60.31".
HEADLIGHT_API std::string ToString(const Chrf& chrf);

}  // namespace headlight

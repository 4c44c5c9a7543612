// chrF2 and chrF2++ of a corpus (Popovic, "chrF: character n-gram F-score for automatic MT evaluation", 2015; "chrF++:
// words helping character n-grams", 2017), with the numbers of sacreBLEU 2.6.0: 1-grams to 6-grams of characters
// without white space, for chrF++ also 1-grams and 2-grams of words, and recall weighing twice as much.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct ChrfOptions {
  bool lowercase = false;
  bool words = false;  ///< chrF++
};

struct Chrf {
  double score = 0;       // 0 to 100
  bool words = false;     // chrF++
  std::string signature;  // how it was computed, in sacreBLEU's words
};

// Arguments and errors as CorpusBleu's. Each line counts with the reference that suits it best.
HEADLIGHT_API Chrf CorpusChrf(std::span<const std::string> hypotheses,
                              std::span<const std::vector<std::string>> references, const ChrfOptions& options = {});

// What the chrF of a corpus is made of: the sums over its lines of these numbers, three for each order.
HEADLIGHT_API std::vector<double> ChrfStatistics(std::string_view hypothesis,
                                                 std::span<const std::string_view> references,
                                                 const ChrfOptions& options);
HEADLIGHT_API double ChrfOf(std::span<const double> sums);
HEADLIGHT_API std::string ChrfSignature(std::size_t references, const ChrfOptions& options);

// As sacreBLEU prints it: "chrF2|SIGNATURE = 60.31".
HEADLIGHT_API std::string ToString(const Chrf& chrf);

}  // namespace headlight

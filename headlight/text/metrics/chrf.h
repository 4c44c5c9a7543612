// chrF2 of a corpus (Popovic, "chrF: character n-gram F-score for automatic MT evaluation", 2015), with the numbers of
// sacreBLEU 2.6.0: characters only, 1-grams to 6-grams, white space left out, recall weighing twice as much.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct Chrf {
  double score = 0;       // 0 to 100
  std::string signature;  // how it was computed, in sacreBLEU's words
};

// Arguments and errors as CorpusBleu's. Each line counts with the reference that suits it best.
HEADLIGHT_API Chrf CorpusChrf(std::span<const std::string> hypotheses,
                              std::span<const std::vector<std::string>> references, bool lowercase = false);

// As sacreBLEU prints it: "chrF2|SIGNATURE = 60.31".
HEADLIGHT_API std::string ToString(const Chrf& chrf);

}  // namespace headlight

// Corpus TER (Snover et al., "A Study of Translation Edit Rate with Targeted Human Annotation", 2006), with the same
// values as sacreBLEU 2.6.0, which follows Tercom. TER ignores case, splits at spaces and keeps punctuation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct Ter {
  double score = 0;             ///< percent, above 100 if there are more edits than words; lower is better
  std::int64_t edits = 0;       ///< insertions, deletions, substitutions and shifts, against the nearest reference
  double reference_length = 0;  ///< in words; for each line, the mean over its references
  std::string signature;        ///< the settings, in sacreBLEU's format
};

/// Computes corpus TER. The arguments and errors are the same as for CorpusBleu. Also throws Error for a line of more
/// than 100,000 words.
HEADLIGHT_API Ter CorpusTer(std::span<const std::string> hypotheses,
                            std::span<const std::vector<std::string>> references);

/// Computes the statistics of a line: the number of edits and the length of the references. The TER of a corpus is
/// computed from the sums of the statistics.
HEADLIGHT_API std::array<double, 2> TerStatistics(std::string_view hypothesis,
                                                  std::span<const std::string_view> references);
HEADLIGHT_API double TerOf(std::span<const double> sums);
HEADLIGHT_API std::string TerSignature(std::size_t references);

/// Formats the score like sacreBLEU: "TER|SIGNATURE = 41.18".
HEADLIGHT_API std::string ToString(const Ter& ter);

}  // namespace headlight

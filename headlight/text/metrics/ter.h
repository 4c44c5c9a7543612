// TER of a corpus (Snover et al., "A Study of Translation Edit Rate with Targeted Human Annotation", 2006), with the
// numbers of sacreBLEU 2.6.0, which follows Tercom: without case, words between spaces, marks kept.
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
  double score = 0;             ///< percent, and above 100 if there are more edits than words; lower is better
  std::int64_t edits = 0;       ///< insertions, deletions, substitutions and shifts; for the nearest reference
  double reference_length = 0;  ///< words; of each line, the mean of its references
  std::string signature;        ///< how it was computed, in sacreBLEU's words
};

/// Arguments and errors as CorpusBleu's. Throws Error for a line of more than 100,000 words, too.
HEADLIGHT_API Ter CorpusTer(std::span<const std::string> hypotheses,
                            std::span<const std::vector<std::string>> references);

// What the TER of a corpus is made of: the sums over its lines of the edits and of the references' length.
HEADLIGHT_API std::array<double, 2> TerStatistics(std::string_view hypothesis,
                                                  std::span<const std::string_view> references);
HEADLIGHT_API double TerOf(std::span<const double> sums);
HEADLIGHT_API std::string TerSignature(std::size_t references);

/// As sacreBLEU prints it: "TER|SIGNATURE = 41.18".
HEADLIGHT_API std::string ToString(const Ter& ter);

}  // namespace headlight

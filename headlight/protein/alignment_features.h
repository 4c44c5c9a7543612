// Computes the MSA features of AlphaFold: cluster centers with masked letters, the profiles of their clusters, and
// extra rows (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021, supplement,
// sections 1.2.6, 1.2.7 and 1.2.9, table 1). The random choices are made first, and the features are computed from
// them.
//   Random random(seed, pass);
//   const AlignmentChoices choices = DrawChoices(table, {.rows = 512, .extra = 1024}, random);
//   const AlignmentFeatures features = FeaturesOf(table, choices);
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

inline constexpr int kMaskLetter = 22;      ///< the input letter of a masked cell
inline constexpr int kFeatureLetters = 23;  ///< the number of residue types, plus the gap and the mask

struct AlignmentSampling {
  std::int64_t rows = 512;    ///< the maximum number of centers, including the query
  std::int64_t extra = 1024;  ///< the maximum number of extra rows
  double masked = 0.15;       ///< the fraction of the centers' letters that is replaced
  /// The probabilities of three replacements: a uniformly sampled amino acid, a letter sampled from the column's
  /// profile, and the unchanged letter. Otherwise, the letter is replaced by kMaskLetter.
  double uniform = 0.1, profile = 0.1, same = 0.1;
};

/// The random choices of a pass. Rows are indices into AlignmentTable::rows.
struct AlignmentChoices {
  std::vector<std::int32_t> centers;   ///< indices of the cluster centers; the first is the query
  std::vector<std::uint8_t> letters;   ///< [centers, residues] the letters that the model receives
  std::vector<std::uint8_t> replaced;  ///< [centers, residues] 1 if the model must predict the original letter
  std::vector<std::int32_t> extra;     ///< indices of the extra rows, which are not centers
};

/// Samples centers and extra rows uniformly without replacement, and masks letters of the centers. Throws Error if an
/// option is out of range.
HEADLIGHT_API AlignmentChoices DrawChoices(const AlignmentTable& table, const AlignmentSampling& sampling,
                                           Random& random);

struct AlignmentFeatures {
  std::vector<std::int32_t> types;  ///< [residues] the query's residue types
  Tensor target;                    ///< [residues, 22] a zero, then the one-hot residue type
  /// [centers * residues, 49]: the one-hot input letter (23 values), 1 if there are deletions, 2/pi arctan(d/3) for d
  /// deletions, the frequencies of the letters in the cluster (23 values), and 2/pi arctan(d/3) for the cluster's mean
  /// number of deletions d.
  Tensor alignment;
  Tensor extra;  ///< [extra * residues, 25] the first 25 features of `alignment`, for the extra rows
  std::vector<std::int32_t> letters;   ///< [centers * residues] the original letters
  std::vector<std::uint8_t> replaced;  ///< [centers * residues] 1 if the letter must be predicted
};

/// Computes the features of residues [first, first + count). For count = -1, the range ends at the last residue. Each
/// row that is not a center joins the cluster of the center with which it shares the most letters in the whole chain.
/// This includes the extra rows. Gaps and masked letters are not counted, and ties go to the first center. Throws Error
/// if the residues are out of range, or if the choices do not fit the table.
HEADLIGHT_API AlignmentFeatures FeaturesOf(const AlignmentTable& table, const AlignmentChoices& choices,
                                           std::int64_t first = 0, std::int64_t count = -1);

}  // namespace headlight

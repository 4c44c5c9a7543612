// The MSA features of AlphaFold: sampled rows as cluster centres with masked letters, the profiles of their clusters,
// and extra rows (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021, supplement,
// sections 1.2.6, 1.2.7 and 1.2.9, table 1). The random choices are separate from the features that are computed from
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

inline constexpr int kMaskLetter = 22;      // replaces a letter whose prediction is trained
inline constexpr int kFeatureLetters = 23;  // the residue types, the gap and the mask

struct AlignmentSampling {
  std::int64_t rows = 512;    // maximum number of centres, including the query
  std::int64_t extra = 1024;  // maximum number of extra rows
  double masked = 0.15;       // the share of the centres' letters that is replaced:
  /// by a uniformly distributed residue, by a letter of the column's profile, or by itself; otherwise by the mask.
  double uniform = 0.1, profile = 0.1, same = 0.1;
};

/// Rows are indices of the table.
struct AlignmentChoices {
  std::vector<std::int32_t> centres;   // the query first
  std::vector<std::uint8_t> letters;   // [centres, residues]: model inputs
  std::vector<std::uint8_t> replaced;  // [centres, residues]: 1 if the original letter must be predicted
  std::vector<std::int32_t> extra;     // rows that are not centres
};

/// Samples uniformly without replacement. Throws Error if an option is out of range.
HEADLIGHT_API AlignmentChoices DrawChoices(const AlignmentTable& table, const AlignmentSampling& sampling,
                                           Random& random);

struct AlignmentFeatures {
  std::vector<std::int32_t> types;  // of the query's residues
  Tensor target;                    // [residues, 22]: 0, then the one-hot residue type
  /// [centres * residues, 49]: the input letter (one-hot, 23), whether there are deletions, the number of deletions d
  /// as 2/pi arctan(d/3), the frequencies of letters in the cluster (23), and its mean number of deletions in the same
  /// form.
  Tensor alignment;
  Tensor extra;                        // [extra * residues, 25]: the first 25 of those numbers for the extra rows
  std::vector<std::int32_t> letters;   // [centres * residues]: original letters, predicted if
  std::vector<std::uint8_t> replaced;  // this is 1
};

/// The features of residues [first, first + count) (count = -1: up to the last), for cropped chains. Every row that is
/// not a centre, whether sampled as extra or not, joins the cluster of the centre with which it shares the most letters
/// of the whole chain. Gaps and masked letters do not count, and ties go to the first centre. Throws Error for residues
/// out of range, and for choices that do not fit the table.
HEADLIGHT_API AlignmentFeatures FeaturesOf(const AlignmentTable& table, const AlignmentChoices& choices,
                                           std::int64_t first = 0, std::int64_t count = -1);

}  // namespace headlight

// The features of an alignment that AlphaFold reads: rows drawn as centres of clusters, with masked letters, the
// profiles of their clusters, and further rows (Jumper et al., "Highly accurate protein structure prediction with
// AlphaFold", 2021, supplement, sections 1.2.6, 1.2.7 and 1.2.9, table 1). The random choices stand apart from what
// follows of them.
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

inline constexpr int kMaskLetter = 22;      // in place of a letter that is to be predicted
inline constexpr int kFeatureLetters = 23;  // the residue types, the gap and the mask

struct AlignmentSampling {
  std::int64_t rows = 512;    // centres at most, the query among them
  std::int64_t extra = 1024;  // further rows at most
  double masked = 0.15;       // the share of the centres' letters that is replaced:
  // by a residue of equal probabilities, by a letter of the column's profile, by itself; else by the mask.
  double uniform = 0.1, profile = 0.1, same = 0.1;
};

// Rows are numbered as in the table.
struct AlignmentChoices {
  std::vector<std::int32_t> centres;   // the query first
  std::vector<std::uint8_t> letters;   // [centres, residues]: as the model reads them
  std::vector<std::uint8_t> replaced;  // [centres, residues]: 1 where the own letter is to be predicted
  std::vector<std::int32_t> extra;     // of those that are no centres
};

// Uniform choices without replacement. Throws Error for a sampling that is impossible.
HEADLIGHT_API AlignmentChoices DrawChoices(const AlignmentTable& table, const AlignmentSampling& sampling,
                                           Random& random);

struct AlignmentFeatures {
  std::vector<std::int32_t> types;  // of the query's residues
  Tensor target;                    // [residues, 22]: 0, then which of the residue types
  // [centres * residues, 49]: which letter the model reads (23), whether there are deletions, how many, d, as
  // 2/pi arctan(d/3), the letters' shares in the cluster (23) and its mean deletions likewise.
  Tensor alignment;
  Tensor extra;                        // [extra * residues, 25]: the first 25 of those, of the further rows
  std::vector<std::int32_t> letters;   // [centres * residues]: own letters, to be predicted where
  std::vector<std::uint8_t> replaced;  // this is 1
};

// Of the residues from `first` on, `count` of them (-1: all that follow), as where a chain is cropped. Every row that
// is no centre, whether drawn as extra or not, counts to the cluster of the centre with which it agrees in most letters
// of the whole chain, gaps and masked ones left out; of equals to the first. Throws Error for residues that there are
// not, and for choices that do not fit the table.
HEADLIGHT_API AlignmentFeatures FeaturesOf(const AlignmentTable& table, const AlignmentChoices& choices,
                                           std::int64_t first = 0, std::int64_t count = -1);

}  // namespace headlight

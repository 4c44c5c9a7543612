// Contacts between residues: how well a map of them is predicted, and what an alignment alone tells of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/protein/structure_labels.h"

namespace headlight {

inline constexpr double kContact = 8;               // angstrom: two residues touch where their C betas lie closer
inline constexpr std::int64_t kLongRange = 24;      // places of the chain between two residues, at least
inline constexpr std::int64_t kResiduesOfPair = 5;  // a fifth as many pairs as residues are asked for

// The precision of long-range contacts (CASP's top L/5): of the pairs at least kLongRange places apart, those with the
// highest `scores` [residues, residues], of which the upper triangle is read, a fifth as many as the chain has
// residues; the share of them that touch. Pairs whose C betas are unknown are not asked for; of equal scores the first
// pair comes first. Nothing where there is no such pair.
HEADLIGHT_API std::optional<double> ContactPrecision(const Matrix<const float>& scores,
                                                     std::span<const ResidueLabels> residues);

// Scores of pairs of columns, [columns, columns], symmetric, less the product of the columns' means over the mean of
// all; the diagonal, which does not count, becomes 0. All 0 where that mean is not positive.
HEADLIGHT_API std::vector<float> WithoutMeans(const std::vector<float>& scores, std::int64_t columns);

// [columns, columns]: the mutual information of each pair of columns over the rows in which both have one of the twenty
// amino acids, WithoutMeans (Dunn, Wahl and Gloor, "Mutual information without the influence of phylogeny or entropy
// dramatically improves residue contact prediction", 2008): symmetric, with a diagonal of zeros.
HEADLIGHT_API std::vector<float> CorrectedMutualInformation(const AlignmentTable& alignment);

}  // namespace headlight

// Contacts between residues: the precision of a predicted contact map, and a baseline from the alignment only.
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

inline constexpr double kContact = 8;           // angstrom: the C beta distance below which two residues are in contact
inline constexpr std::int64_t kLongRange = 24;  // minimum sequence separation
inline constexpr std::int64_t kResiduesOfPair = 5;  // L/5 pairs are evaluated for L residues

/// The precision of long-range contacts (CASP's top L/5). Considers pairs with a sequence separation of at least
/// kLongRange, and takes the L/5 pairs with the highest `scores` [residues, residues], of which only the upper triangle
/// is read. Returns the share of these pairs that are in contact. Pairs with unknown C betas are left out, and ties go
/// to the first pair. Empty if there is no such pair.
HEADLIGHT_API std::optional<double> ContactPrecision(const Matrix<const float>& scores,
                                                     std::span<const ResidueLabels> residues);

/// Average product correction of scores of pairs of columns, [columns, columns], symmetric: subtracts the product of
/// the two columns' means over the mean of all scores. The diagonal does not count and becomes 0. All results are 0 if
/// the mean of all scores is not positive.
HEADLIGHT_API std::vector<float> WithoutMeans(const std::vector<float>& scores, std::int64_t columns);

/// The mutual information of each pair of columns, with the average product correction (Dunn, Wahl and Gloor, "Mutual
/// information without the influence of phylogeny or entropy dramatically improves residue contact prediction", 2008).
/// Counts the rows in which both columns have one of the twenty amino acids. Returns [columns, columns], symmetric with
/// a diagonal of zeros.
HEADLIGHT_API std::vector<float> CorrectedMutualInformation(const AlignmentTable& alignment);

}  // namespace headlight

// Evaluates predicted contacts between residues, and computes a baseline from the alignment only.
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

inline constexpr double kContact = 8;  // the C beta distance in angstrom below which two residues are in contact
inline constexpr std::int64_t kLongRange = 24;      // the minimum sequence separation of a long-range pair
inline constexpr std::int64_t kResiduesOfPair = 5;  // L/5 pairs are evaluated for L residues

/// Returns the precision of long-range contacts: the fraction of the evaluated pairs that are in contact (CASP's top
/// L/5). Evaluates the L/5 pairs with the highest `scores` [residues, residues] and a sequence separation of at least
/// kLongRange. Only the upper triangle of `scores` is used. Pairs with unknown C betas are left out, and ties go to the
/// first pair. Returns nullopt if there is no such pair.
HEADLIGHT_API std::optional<double> ContactPrecision(const Matrix<const float>& scores,
                                                     std::span<const ResidueLabels> residues);

/// Applies the average product correction to symmetric scores of pairs of columns, [columns, columns]. Subtracts the
/// product of the two columns' means divided by the mean of all scores. The diagonal is excluded from the means and
/// becomes 0. All results are 0 if the mean of all scores is not positive.
HEADLIGHT_API std::vector<float> AverageProductCorrected(const std::vector<float>& scores, std::int64_t columns);

/// Computes the mutual information of each pair of columns, with the average product correction (Dunn, Wahl and Gloor,
/// "Mutual information without the influence of phylogeny or entropy dramatically improves residue contact prediction",
/// 2008). Counts the rows in which both columns have one of the twenty amino acids. Returns a symmetric [columns,
/// columns] array with a zero diagonal.
HEADLIGHT_API std::vector<float> CorrectedMutualInformation(const AlignmentTable& alignment);

}  // namespace headlight

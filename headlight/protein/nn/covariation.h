// Computes coevolution features of an alignment, an optional additional input of structure prediction models.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

inline constexpr std::int64_t kCovariationFeatures = 2,
                              kCouplings = 0;  // the index of the coupling among the features
/// The maximum number of residues. The matrix to invert then needs 1.7 GB.
inline constexpr std::int64_t kMostCovarying = 1024;

/// Computes symmetric float32 features [residues * residues, 2]. The features of a residue with itself are 0. The
/// features of each pair of columns are:
/// - The coupling: the norm of the pair's block of the inverse covariance matrix of the twenty amino acids in all
///   columns. The diagonal is increased by 4.5 / sqrt(rows) (Yang et al., "Improved protein structure prediction using
///   predicted interresidue orientations", 2020). Each row has the weight 1 / n if n rows are at least 80% identical to
///   it. If there are more than 4,096 rows, 4,096 evenly spaced rows are used.
/// - The mutual information (protein/contacts.h).
/// The average product correction is applied to both features. Each feature is then converted to asinh(z), where
/// z is the number of standard deviations from the mean. For an alignment with only one row, all features are 0. Throws
/// Error for more than kMostCovarying residues.
HEADLIGHT_API Tensor Covariation(const AlignmentTable& alignment);

/// Returns the features of residues [first, first + count), given the features of all residues.
HEADLIGHT_API Tensor CropOfCovariation(const Tensor& covariation, std::int64_t residues, std::int64_t first,
                                       std::int64_t count);

}  // namespace headlight

// How the columns of an alignment vary together, as a model of protein structures may read it beside the alignment.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

inline constexpr std::int64_t kCovariationFeatures = 2, kCouplings = 0;  // which of them couplings are
inline constexpr std::int64_t kMostCovarying = 1024;  // residues: the matrix to invert then takes 1.7 GB

// [residues * residues, 2], float32, symmetric; 0 for a residue with itself. Of two columns
// - the coupling: the norm of their block of the inverse of the covariances of the twenty amino acids in all columns,
//   to whose diagonal 4.5 / root(rows) is added (Yang et al., "Improved protein structure prediction using predicted
//   interresidue orientations", 2020), rows counting as the inverse of how many are at least 80% the same; of more than
//   4,096 rows, so many at equal steps are read;
// - their mutual information (protein/contacts.h);
// of each the part that is not explained by the columns' means, in standard deviations, z, as asinh(z). An alignment of
// one row has zeros. Throws Error for more residues than kMostCovarying.
HEADLIGHT_API Tensor Covariation(const AlignmentTable& alignment);

// That of `count` residues from `first` on, of all.
HEADLIGHT_API Tensor CropOfCovariation(const Tensor& covariation, std::int64_t residues, std::int64_t first,
                                       std::int64_t count);

}  // namespace headlight

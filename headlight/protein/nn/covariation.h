// Coevolution features of an alignment, which a structure prediction model can read in addition to the alignment.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

inline constexpr std::int64_t kCovariationFeatures = 2,
                              kCouplings = 0;         // the index of the couplings among the features
inline constexpr std::int64_t kMostCovarying = 1024;  // residues: the matrix to invert then takes 1.7 GB

/// Features [residues * residues, 2], float32, symmetric; 0 for a residue with itself. For each pair of columns:
/// - the coupling: the norm of the pair's block of the inverse covariance matrix of the twenty amino acids in all
///   columns. The diagonal is increased by 4.5 / sqrt(rows) (Yang et al., "Improved protein structure prediction using
///   predicted interresidue orientations", 2020). Each row has the weight 1 / the number of rows that are at least 80%
///   identical. If there are more than 4,096 rows, this many evenly spaced ones are used;
/// - the mutual information (protein/contacts.h).
/// Both have the average product correction, and are given as asinh(z) with z in standard deviations. An alignment of
/// one row has zeros. Throws Error for more residues than kMostCovarying.
HEADLIGHT_API Tensor Covariation(const AlignmentTable& alignment);

/// The features of residues [first, first + count) from those of all residues.
HEADLIGHT_API Tensor CropOfCovariation(const Tensor& covariation, std::int64_t residues, std::int64_t first,
                                       std::int64_t count);

}  // namespace headlight

// Implements the structural violation loss (Jumper et al., "Highly accurate protein structure prediction with
// AlphaFold", 2021, supplement, section 1.9.11).
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/protein/structure_labels.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Computes the violation loss [1], the sum of penalties for bonds and clashes. For peptide bond lengths and angles, it
/// is the mean excess over 12 standard deviations. For clashes, it is the overlap of atoms beyond 1.5 angstrom, within
/// and between residues, averaged over the atoms. `atoms` [residues, 14 * 3] are predicted positions in angstrom. Only
/// the types and positions of `residues` are used. Throws Error for mismatched shapes.
HEADLIGHT_API Tensor ViolationLoss(const Tensor& atoms, std::span<const ResidueLabels> residues);

}  // namespace headlight

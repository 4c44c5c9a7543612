// Geometry that no protein has (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, section 1.9.11).
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/protein/structure_labels.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// [1]: the penalties of peptide bonds and their angles, each the mean over the bonds of what exceeds 12 deviations, and
// the sum of atoms' overlaps beyond 1.5 angstrom, between residues and within one, a mean over the atoms. `atoms` has
// those of a prediction, [residues, 14 * 3] in angstrom. Of the residues only types and places are read. Throws Error
// where the shapes do not fit.
HEADLIGHT_API Tensor ViolationLoss(const Tensor& atoms, std::span<const ResidueLabels> residues);

}  // namespace headlight

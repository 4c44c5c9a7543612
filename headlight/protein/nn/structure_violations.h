// The structural violation loss (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, section 1.9.11).
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/protein/structure_labels.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The loss [1], a sum of two penalties. Peptide bond lengths and angles: each the mean over the bonds of the excess
/// over 12 standard deviations. Clashes: atoms, within and between residues, that overlap by more than 1.5 angstrom,
/// averaged over the atoms. `atoms` are those of a prediction, [residues, 14 * 3] in angstrom. Only the types and
/// positions of `residues` are read. Throws Error for shapes that do not fit.
HEADLIGHT_API Tensor ViolationLoss(const Tensor& atoms, std::span<const ResidueLabels> residues);

}  // namespace headlight

// A prediction's own estimate of its errors, as AlphaFold's database writes it.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

// The predicted aligned error, [residues, residues] in angstrom: row i has the errors of all residues where the
// prediction is aligned on residue i. As JSON: a list of one object with `predicted_aligned_error`, to a tenth, and
// `max_predicted_aligned_error`. Throws Error where it is not square or holds what is not a number from 0 to `most`.
HEADLIGHT_API std::string WritePredictedErrors(const Matrix<const float>& errors, double most = 31.75);

}  // namespace headlight

// How sure a predicted structure is, as an image.
#pragma once

#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/inspect/color_ramp.h"

namespace headlight {

struct ConfidenceImage {
  std::string title;
  std::span<const float> plddt;     // [residues], 0 to 100
  Matrix<const float> errors = {};  // [residues, residues] in angstrom; without rows: none are predicted
  double most = 31.75;              // of these
};

// The colours by which AlphaFold's database shows a residue's pLDDT: above 90, above 70, above 50, and below.
HEADLIGHT_API Color ColorOfLddt(double plddt);

// Draws it to `path` (.png, .svg or .pdf): the residues' pLDDT as bars, and below them the predicted aligned errors as
// a map, a row for each residue that the prediction is aligned on, the darker the smaller. Throws Error for what is no
// number of that range, errors of another number of residues, another ending, a PNG that would be too large and a file
// that cannot be written.
HEADLIGHT_API void DrawConfidence(const ConfidenceImage& confidence, const std::string& path);

}  // namespace headlight

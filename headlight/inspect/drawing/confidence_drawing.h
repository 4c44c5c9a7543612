// Draws the confidence of a predicted structure.
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
  Matrix<const float> errors = {};  // [residues, residues] in angstrom; without rows: not predicted
  double most = 31.75;              // the upper limit of the errors
};

/// Returns the color of a pLDDT as in AlphaFold's database. There are four colors, with the limits 90, 70 and 50.
HEADLIGHT_API Color ColorOfLddt(double plddt);

/// Draws to `path` (.png, .svg or .pdf) the pLDDT of residues as bars, and below them the predicted aligned errors as a
/// map. The rows of the map are the residues on which the prediction is aligned. Smaller errors are darker. Throws
/// Error for values out of range, errors for another number of residues, another extension, a PNG that would be too
/// large, and a file that cannot be written.
HEADLIGHT_API void DrawConfidence(const ConfidenceImage& confidence, const std::string& path);

}  // namespace headlight

// A prediction's own estimate of its errors, from logits of a model's heads (Jumper et al., "Highly accurate protein
// structure prediction with AlphaFold", 2021, supplement, sections 1.9.6 and 1.9.7), and as AlphaFold's database writes
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

// The expected lDDT of each residue, 0 to 100: logits [residues, bins] of equal bins.
HEADLIGHT_API std::vector<float> ExpectedLddt(const Matrix<const float>& logits);

// The expected error of each residue where the prediction is aligned on another, [residues * residues] in angstrom:
// logits [residues * residues, bins], of bins from 0 to 31 and one for what is beyond. Throws Error for fewer than
// three bins.
HEADLIGHT_API std::vector<float> ExpectedErrors(const Matrix<const float>& logits);

// The most that can be expected of so many bins, 31.75 for 64.
HEADLIGHT_API double LargestExpectedError(std::int64_t bins);

// The expected distance of each pair's C betas, [residues * residues] in angstrom: logits [residues * residues, bins],
// of bins from 2.3125 to 21.6875, with one below and one beyond (section 1.9.8). Throws Error for fewer than three
// bins.
HEADLIGHT_API std::vector<float> ExpectedDistances(const Matrix<const float>& logits);

// The probability that each pair's C betas lie within 8 angstrom, [residues * residues], of the same logits: bins that
// end beyond count as not.
HEADLIGHT_API std::vector<float> ContactProbabilities(const Matrix<const float>& logits);

// The expected TM-score of the whole chain, 0 to 1, of logits of errors (equation 39).
HEADLIGHT_API double ExpectedTmScore(const Matrix<const float>& logits, std::int64_t residues);

// The predicted aligned error, [residues, residues] in angstrom: row i has the errors of all residues where the
// prediction is aligned on residue i. As JSON: a list of one object with `predicted_aligned_error`, to a tenth, and
// `max_predicted_aligned_error`. Throws Error where it is not square or holds what is not a number from 0 to `most`.
HEADLIGHT_API std::string WritePredictedErrors(const Matrix<const float>& errors, double most = 31.75);

}  // namespace headlight

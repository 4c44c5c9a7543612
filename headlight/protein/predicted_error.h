// Confidence measures from a model's logits (Jumper et al., "Highly accurate protein structure prediction with
// AlphaFold", 2021, supplement, sections 1.9.6 and 1.9.7), and their file format in AlphaFold's database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

/// pLDDT: the expected lDDT of each residue, 0 to 100, from logits [residues, bins] over equal bins.
HEADLIGHT_API std::vector<float> ExpectedLddt(const Matrix<const float>& logits);

/// Predicted aligned error (PAE) for each pair, [residues * residues] in angstrom, from logits [residues * residues,
/// bins] over bins from 0 to 31 and one beyond. Throws Error for fewer than three bins.
HEADLIGHT_API std::vector<float> ExpectedErrors(const Matrix<const float>& logits);

/// The largest possible expected error for this many bins, 31.75 for 64.
HEADLIGHT_API double LargestExpectedError(std::int64_t bins);

/// The expected C beta distance of each pair, [residues * residues] in angstrom, from logits [residues * residues,
/// bins] over bins from 2.3125 to 21.6875, including one below and one beyond (section 1.9.8). Throws Error for fewer
/// than three bins.
HEADLIGHT_API std::vector<float> ExpectedDistances(const Matrix<const float>& logits);

/// The probability that each pair's C betas are within 8 angstrom, [residues * residues], from the same logits. A bin
/// that ends beyond 8 angstrom does not count.
HEADLIGHT_API std::vector<float> ContactProbabilities(const Matrix<const float>& logits);

/// pTM: the predicted TM-score of the whole chain, 0 to 1, from logits of aligned errors (equation 39).
HEADLIGHT_API double ExpectedTmScore(const Matrix<const float>& logits, std::int64_t residues);

/// Formats the predicted aligned error [residues, residues], in angstrom, as JSON. Row i has the errors of all residues
/// if the prediction is aligned on residue i. The JSON is a list of one object with `predicted_aligned_error`, rounded
/// to tenths, and `max_predicted_aligned_error`. Throws Error if the matrix is not square, or if a value is not a
/// number from 0 to `most`.
HEADLIGHT_API std::string WritePredictedErrors(const Matrix<const float>& errors, double most = 31.75);

}  // namespace headlight

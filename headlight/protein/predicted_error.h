// Computes confidence measures from a model's logits (Jumper et al., "Highly accurate protein structure prediction with
// AlphaFold", 2021, supplement, sections 1.9.6 and 1.9.7), and formats them as in AlphaFold's database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

/// Returns pLDDT: the expected lDDT of each residue, 0 to 100, from logits [residues, bins] over equal bins.
HEADLIGHT_API std::vector<float> ExpectedLddt(const Matrix<const float>& logits);

/// Returns the predicted aligned error (PAE) of each pair, [residues * residues] in angstrom, from logits [residues *
/// residues, bins]. The bins are evenly spaced from 0 to 31, and the last bin is unbounded. Throws Error for fewer than
/// three bins.
HEADLIGHT_API std::vector<float> ExpectedErrors(const Matrix<const float>& logits);

/// Returns the largest possible expected error for this number of bins, which is 31.75 for 64 bins.
HEADLIGHT_API double LargestExpectedError(std::int64_t bins);

/// Returns the expected C beta distance of each pair, [residues * residues] in angstrom, from logits [residues *
/// residues, bins]. The bins are evenly spaced from 2.3125 to 21.6875, with one bin below and one bin above (section
/// 1.9.8). Throws Error for fewer than three bins.
HEADLIGHT_API std::vector<float> ExpectedDistances(const Matrix<const float>& logits);

/// Returns the probability that the C betas of each pair are within 8 angstrom, [residues * residues], from the logits
/// of ExpectedDistances. A bin that ends beyond 8 angstrom does not count.
HEADLIGHT_API std::vector<float> ContactProbabilities(const Matrix<const float>& logits);

/// Returns pTM: the predicted TM-score of the whole chain, 0 to 1, from logits of aligned errors (equation 39).
HEADLIGHT_API double ExpectedTmScore(const Matrix<const float>& logits, std::int64_t residues);

/// Formats the predicted aligned error [residues, residues], in angstrom, as JSON. Row i has the errors of all residues
/// if the prediction is aligned on residue i. The JSON is a list with one object, which has `predicted_aligned_error`,
/// rounded to tenths, and `max_predicted_aligned_error`. Throws Error if the matrix is not square, or if a value is not
/// a number from 0 to `most`.
HEADLIGHT_API std::string WritePredictedErrors(const Matrix<const float>& errors, double most = 31.75);

}  // namespace headlight

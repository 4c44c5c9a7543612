#include "headlight/protein/predicted_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/protein/contacts.h"

namespace headlight {
namespace {

// Returns the expected value of each row of logits. `values` has one value per bin.
std::vector<double> Expectations(const Matrix<const float>& logits, const std::vector<double>& values) {
  std::vector<double> expectations(static_cast<std::size_t>(logits.rows));
  ParallelFor(logits.rows, [&](std::int64_t row) {
    const float* const its = logits.row(row);
    const double most = *std::max_element(its, its + logits.columns);
    double sum = 0, weighted = 0;
    for (std::size_t bin = 0; bin < values.size(); ++bin) {
      const double weight = std::exp(static_cast<double>(its[bin]) - most);
      sum += weight;
      weighted += weight * values[bin];
    }
    expectations[static_cast<std::size_t>(row)] = weighted / sum;
  });
  return expectations;
}

// Returns the centers of the bins of aligned errors, in angstrom. The edges are evenly spaced from 0 to 31, and the
// last bin is unbounded.
std::vector<double> ErrorBins(std::int64_t bins) {
  constexpr double kLastEdge = 31;
  Check(bins >= 3, "at least 3 bins of errors are needed, not {}", bins);
  const double width = kLastEdge / static_cast<double>(bins - 2);
  std::vector<double> centers;
  for (std::int64_t bin = 0; bin < bins; ++bin) centers.push_back((static_cast<double>(bin) + 0.5) * width);
  return centers;
}

constexpr double kFirstEdge = 2.3125, kLastEdge = 21.6875;  // first and last edge of the distance bins, in angstrom

double WidthOfDistances(std::int64_t bins) {
  Check(bins >= 3, "at least 3 bins of distances are needed, not {}", bins);
  return (kLastEdge - kFirstEdge) / static_cast<double>(bins - 2);
}

// Returns the upper edge of each distance bin. The last bin is treated as if it had the width of the other bins.
std::vector<double> EndsOfDistances(std::int64_t bins) {
  std::vector<double> ends;
  for (std::int64_t bin = 0; bin < bins; ++bin)
    ends.push_back(kFirstEdge + static_cast<double>(bin) * WidthOfDistances(bins));
  return ends;
}

}  // namespace

std::vector<float> ExpectedLddt(const Matrix<const float>& logits) {
  std::vector<double> centers;
  for (std::int64_t bin = 0; bin < logits.columns; ++bin)
    centers.push_back(100 * (static_cast<double>(bin) + 0.5) / static_cast<double>(logits.columns));
  const std::vector<double> lddt = Expectations(logits, centers);
  return {lddt.begin(), lddt.end()};
}

std::vector<float> ExpectedErrors(const Matrix<const float>& logits) {
  const std::vector<double> errors = Expectations(logits, ErrorBins(logits.columns));
  return {errors.begin(), errors.end()};
}

std::vector<float> ExpectedDistances(const Matrix<const float>& logits) {
  std::vector<double> centers;
  for (const double end : EndsOfDistances(logits.columns))
    centers.push_back(end - WidthOfDistances(logits.columns) / 2);
  const std::vector<double> distances = Expectations(logits, centers);
  return {distances.begin(), distances.end()};
}

std::vector<float> ContactProbabilities(const Matrix<const float>& logits) {
  std::vector<double> within;
  for (const double end : EndsOfDistances(logits.columns)) within.push_back(end <= kContact ? 1 : 0);
  const std::vector<double> probabilities = Expectations(logits, within);
  return {probabilities.begin(), probabilities.end()};
}

double LargestExpectedError(std::int64_t bins) { return ErrorBins(bins).back(); }

double ExpectedTmScore(const Matrix<const float>& logits, std::int64_t residues) {
  Check(residues >= 1 && logits.rows == residues * residues, "there are logits of {} pairs for {} residues",
        logits.rows, residues);
  // d_0 of Zhang and Skolnick. Chains with fewer than 19 residues have the d_0 of 19 residues.
  const double d0 = 1.24 * std::cbrt(static_cast<double>(std::max<std::int64_t>(residues, 19) - 15)) - 1.8;
  std::vector<double> scores = ErrorBins(logits.columns);
  for (double& score : scores) score = 1 / (1 + score * score / (d0 * d0));
  const std::vector<double> expected = Expectations(logits, scores);
  double best = 0;
  for (auto row = expected.begin(); row != expected.end(); row += residues)
    best = std::max(best, std::accumulate(row, row + residues, 0.0) / static_cast<double>(residues));
  return best;
}

std::string WritePredictedErrors(const Matrix<const float>& errors, double most) {
  Check(errors.rows == errors.columns && errors.rows > 0, "predicted errors must be square, not {} x {}", errors.rows,
        errors.columns);
  // The text is formatted directly, since each Json value would need 40 bytes.
  std::string text = "[{\"predicted_aligned_error\":[";
  for (std::int64_t i = 0; i < errors.rows; ++i) {
    text += i == 0 ? "[" : ",[";
    for (std::int64_t j = 0; j < errors.columns; ++j) {
      const float error = errors.row(i)[j];
      if (!(error >= 0 && error <= most))
        Fail("the predicted error of residues {} and {} is {}, not from 0 to {}", i + 1, j + 1, error, most);
      fmt::format_to(std::back_inserter(text), "{}{:.1f}", j == 0 ? "" : ",", error);
    }
    text += ']';
  }
  text += fmt::format("],\"max_predicted_aligned_error\":{}}}]\n", most);
  return text;
}

}  // namespace headlight

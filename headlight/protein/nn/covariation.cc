#include "headlight/protein/nn/covariation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/inverse.h"
#include "headlight/protein/contacts.h"

namespace headlight {
namespace {

constexpr std::int64_t kAminoAcids = 20, kMostRows = 4096;
constexpr double kAlike = 0.8, kRidge = 4.5;

std::vector<std::span<const std::uint8_t>> SomeRows(const AlignmentTable& alignment) {
  const std::int64_t all = std::ssize(alignment.rows), count = std::min(all, kMostRows);
  std::vector<std::span<const std::uint8_t>> rows;
  for (std::int64_t i = 0; i < count; ++i)
    rows.emplace_back(alignment.rows[static_cast<std::size_t>(i * all / count)].residues);
  return rows;
}

// Returns the weight of each row, 1 / n. Here, n is the number of similar rows, including the row itself. Similar rows
// are equal in at least kAlike of the columns.
std::vector<float> WeightsOf(const std::vector<std::span<const std::uint8_t>>& rows) {
  const auto columns = std::ssize(rows.front());
  const auto enough = static_cast<std::int64_t>(std::ceil(kAlike * static_cast<double>(columns)));
  std::vector<float> weights(rows.size());
  ParallelFor(std::ssize(rows), [&](std::int64_t i) {
    const std::uint8_t* const own = rows[static_cast<std::size_t>(i)].data();
    std::int64_t alike = 0;
    for (const std::span<const std::uint8_t> row : rows) {
      const std::uint8_t* const other = row.data();
      std::int64_t same = 0;
      for (std::int64_t column = 0; column < columns; ++column) same += own[column] == other[column] ? 1 : 0;
      alike += same >= enough ? 1 : 0;
    }
    weights[static_cast<std::size_t>(i)] = 1 / static_cast<float>(alike);
  });
  return weights;
}

// Returns the covariance matrix of the amino acids in all columns, [columns * 20, columns * 20], with the ridge added
// to the diagonal.
std::vector<float> Covariances(const std::vector<std::span<const std::uint8_t>>& rows,
                               const std::vector<float>& weights) {
  const std::int64_t columns = std::ssize(rows.front()), size = columns * kAminoAcids;
  double count = 0;
  for (const float weight : weights) count += static_cast<double>(weight);
  std::vector<float> mean(static_cast<std::size_t>(size));
  std::vector<float> covariances(static_cast<std::size_t>(size * size));
  constexpr std::int64_t chunk = 256;  // rows per matrix product
  std::vector<float> letters;
  for (std::int64_t first = 0; first < std::ssize(rows); first += chunk) {
    const std::int64_t here = std::min(chunk, std::ssize(rows) - first);
    letters.assign(static_cast<std::size_t>(here * size), 0);
    for (std::int64_t i = 0; i < here; ++i) {
      const auto row = static_cast<std::size_t>(first + i);
      const double share = static_cast<double>(weights[row]) / count;
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t letter = rows[row][static_cast<std::size_t>(column)];
        if (letter >= kAminoAcids) continue;
        letters[static_cast<std::size_t>(i * size + column * kAminoAcids + letter)] =
            static_cast<float>(std::sqrt(share));
        mean[static_cast<std::size_t>(column * kAminoAcids + letter)] += static_cast<float>(share);
      }
    }
    const Matrix<const float> x = {letters.data(), here, size, size};
    kernels::GemmTransposed<float>(x, x, {covariances.data(), size, size, size});
  }
  const auto ridge = static_cast<float>(kRidge / std::sqrt(count));
  ParallelFor(size, [&](std::int64_t i) {
    float* const row = covariances.data() + i * size;
    for (std::int64_t j = 0; j < size; ++j)
      row[j] -= mean[static_cast<std::size_t>(i)] * mean[static_cast<std::size_t>(j)];
    row[i] += ridge;
  });
  return covariances;
}

// Returns the norms of the blocks of the inverse covariance matrix, [columns, columns].
std::vector<float> Couplings(const AlignmentTable& alignment) {
  const std::vector<std::span<const std::uint8_t>> rows = SomeRows(alignment);
  std::vector<float> inverse = Covariances(rows, WeightsOf(rows));
  const std::int64_t columns = alignment.residues(), size = columns * kAminoAcids;
  kernels::InvertPositive({inverse.data(), size, size, size});
  std::vector<float> couplings(static_cast<std::size_t>(columns * columns));
  ParallelFor(columns * columns, [&](std::int64_t pair) {
    const float* const block = inverse.data() + (pair / columns * size + pair % columns) * kAminoAcids;
    double squares = 0;
    for (std::int64_t a = 0; a < kAminoAcids; ++a)
      for (std::int64_t b = 0; b < kAminoAcids; ++b)
        squares += static_cast<double>(block[a * size + b]) * static_cast<double>(block[a * size + b]);
    if (pair / columns != pair % columns)
      couplings[static_cast<std::size_t>(pair)] = static_cast<float>(std::sqrt(squares));
  });
  return couplings;
}

// Standardizes the scores of the pairs and writes their asinh to every second element of `features`.
void Standardize(const std::vector<float>& scores, std::int64_t columns, float* features) {
  double sum = 0, squares = 0;
  for (const float score : scores) {
    sum += static_cast<double>(score);
    squares += static_cast<double>(score) * static_cast<double>(score);
  }
  const auto pairs = static_cast<double>(columns * (columns - 1));
  const double mean = sum / pairs, variance = squares / pairs - mean * mean;
  if (!(variance > 0)) return;
  for (std::int64_t pair = 0; pair < columns * columns; ++pair)
    if (pair / columns != pair % columns)
      features[pair * kCovariationFeatures] = static_cast<float>(
          std::asinh((static_cast<double>(scores[static_cast<std::size_t>(pair)]) - mean) / std::sqrt(variance)));
}

}  // namespace

Tensor Covariation(const AlignmentTable& alignment) {
  const std::int64_t columns = alignment.residues();
  Check(columns <= kMostCovarying, "covariation needs at most {1} residues, not {0}", columns, kMostCovarying);
  Tensor features = Tensor::Zeros({columns * columns, kCovariationFeatures}, DType::float32);
  if (columns < 2 || alignment.rows.size() < 2) return features;
  Standardize(AverageProductCorrected(Couplings(alignment), columns), columns, features.data<float>());
  Standardize(CorrectedMutualInformation(alignment), columns, features.data<float>() + 1);
  return features;
}

Tensor CropOfCovariation(const Tensor& covariation, std::int64_t residues, std::int64_t first, std::int64_t count) {
  Tensor crop = Tensor::Empty({count * count, kCovariationFeatures}, covariation.dtype());
  for (std::int64_t i = 0; i < count; ++i)
    crop.ViewRows(i * count, count).CopyFrom(covariation.ViewRows((first + i) * residues + first, count));
  return crop;
}

}  // namespace headlight

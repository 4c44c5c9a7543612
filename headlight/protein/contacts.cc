#include "headlight/protein/contacts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"

namespace headlight {
namespace {

constexpr std::size_t kAminoAcids = 20;  // without the unknown residue and the gap

// Returns the mutual information of two columns, in nats.
double InformationOf(const AlignmentTable& alignment, std::size_t first, std::size_t second) {
  std::array<std::array<double, kAminoAcids>, kAminoAcids> counts{};
  for (const AlignmentTable::Row& row : alignment.rows) {
    const std::size_t a = row.residues[first], b = row.residues[second];
    if (a < kAminoAcids && b < kAminoAcids) ++counts[a][b];
  }
  std::array<double, kAminoAcids> of_first{}, of_second{};
  double all = 0;
  for (std::size_t a = 0; a < kAminoAcids; ++a) {
    for (std::size_t b = 0; b < kAminoAcids; ++b) {
      of_first[a] += counts[a][b];
      of_second[b] += counts[a][b];
      all += counts[a][b];
    }
  }
  double information = 0;
  for (std::size_t a = 0; a < kAminoAcids; ++a)
    for (std::size_t b = 0; b < kAminoAcids; ++b)
      if (counts[a][b] > 0)
        information += counts[a][b] / all * std::log(counts[a][b] * all / (of_first[a] * of_second[b]));
  return information;
}

}  // namespace

std::optional<double> ContactPrecision(const Matrix<const float>& scores, std::span<const ResidueLabels> residues) {
  const auto count = static_cast<std::int64_t>(residues.size());
  Check(scores.rows == count && scores.columns == count, "there are {} x {} scores for {} residues", scores.rows,
        scores.columns, count);
  struct Pair {
    float score;
    bool touch;
  };
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = i + 1; j < count; ++j) {
      const ResidueLabels &first = residues[static_cast<std::size_t>(i)],
                          &second = residues[static_cast<std::size_t>(j)];
      if (second.position - first.position < kLongRange || !first.beta_known || !second.beta_known) continue;
      pairs.push_back({scores.row(i)[j], Distance(first.beta, second.beta) < kContact});
    }
  }
  if (pairs.empty()) return {};
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.score > b.score; });
  const std::int64_t selected = std::clamp<std::int64_t>(count / kResiduesOfPair, 1, std::ssize(pairs));
  const auto touching =
      std::count_if(pairs.begin(), pairs.begin() + selected, [](const Pair& pair) { return pair.touch; });
  return static_cast<double>(touching) / static_cast<double>(selected);
}

std::vector<float> AverageProductCorrected(const std::vector<float>& scores, std::int64_t columns) {
  const auto count = static_cast<std::size_t>(columns);
  Check(scores.size() == count * count, "there are {} scores for the pairs of {} columns", scores.size(), columns);
  std::vector<double> mean(count);
  double all = 0;
  const auto others = static_cast<double>(std::max<std::size_t>(count, 2) - 1);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j)
      if (i != j) mean[i] += static_cast<double>(scores[i * count + j]) / others;
    all += mean[i] / static_cast<double>(count);
  }
  std::vector<float> corrected(scores.size());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      if (i != j && all > 0)
        corrected[i * count + j] =
            static_cast<float>(static_cast<double>(scores[i * count + j]) - mean[i] * mean[j] / all);
  return corrected;
}

std::vector<float> CorrectedMutualInformation(const AlignmentTable& alignment) {
  const auto columns = static_cast<std::size_t>(alignment.residues());
  std::vector<float> information(columns * columns);
  ParallelFor(std::ssize(information), [&](std::int64_t pair) {
    const auto i = static_cast<std::size_t>(pair) / columns, j = static_cast<std::size_t>(pair) % columns;
    if (i < j) information[i * columns + j] = static_cast<float>(InformationOf(alignment, i, j));
  });
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = i + 1; j < columns; ++j) information[j * columns + i] = information[i * columns + j];
  return AverageProductCorrected(information, alignment.residues());
}

}  // namespace headlight

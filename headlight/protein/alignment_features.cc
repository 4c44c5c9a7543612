#include "headlight/protein/alignment_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

constexpr std::int64_t kTarget = 1 + kResidueTypes;
constexpr std::int64_t kCell = kFeatureLetters + 2;                // the number of values per cell of an extra row
constexpr std::int64_t kCenterCell = kCell + kFeatureLetters + 1;  // the number of values per cell of a cluster center

// Returns a random permutation of 1, ..., rows - 1.
std::vector<std::int32_t> Shuffled(std::int64_t rows, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows - 1));
  std::iota(order.begin(), order.end(), 1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

std::uint8_t OfProfile(std::span<const float> shares, double place) {
  double sum = 0;
  for (std::size_t letter = 0; letter < shares.size(); ++letter) {
    sum += static_cast<double>(shares[letter]);
    if (place < sum) return static_cast<std::uint8_t>(letter);
  }
  // The sum of `shares` can be slightly less than 1 after rounding. In that case, the last letter with a positive share
  // is returned.
  const auto last = std::find_if(shares.rbegin(), shares.rend(), [](float share) { return share > 0; });
  return static_cast<std::uint8_t>(shares.rend() - last - 1);
}

float Squashed(float deletions) { return std::atan(deletions / 3) * static_cast<float>(2 / std::numbers::pi); }

// Counts the columns in which two rows have the same letter. The inner loop counts in bytes, which compilers vectorize.
// A block of kBlock columns cannot overflow a byte.
std::int64_t Agreement(const std::uint8_t* center, const std::uint8_t* row, std::int64_t residues) {
  std::int64_t sum = 0;
  constexpr std::int64_t kBlock = 255;
  for (std::int64_t first = 0; first < residues; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, residues);
    std::uint8_t equal = 0;
    for (std::int64_t i = first; i < end; ++i)
      equal = static_cast<std::uint8_t>(equal + ((center[i] == row[i]) & (row[i] < kGap)));
    sum += equal;
  }
  return sum;
}

// Returns the rows of each center's cluster.
std::vector<std::vector<std::int32_t>> Clusters(const AlignmentTable& table, const AlignmentChoices& choices) {
  const std::int64_t rows = std::ssize(table.rows), residues = table.residues(), centers = std::ssize(choices.centers);
  std::vector<std::int32_t> nearest(static_cast<std::size_t>(rows), -1);
  std::vector<std::uint8_t> is_center(static_cast<std::size_t>(rows));
  for (const std::int32_t center : choices.centers) is_center[static_cast<std::size_t>(center)] = 1;
  constexpr std::int64_t kChunk = 64;  // rows per parallel task
  ParallelFor((rows + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    for (std::int64_t row = chunk * kChunk; row < std::min((chunk + 1) * kChunk, rows); ++row) {
      if (is_center[static_cast<std::size_t>(row)]) continue;
      std::int64_t best = -1;
      for (std::int64_t center = 0; center < centers; ++center) {
        const std::int64_t agreement = Agreement(choices.letters.data() + center * residues,
                                                 table.rows[static_cast<std::size_t>(row)].residues.data(), residues);
        if (agreement <= best) continue;
        best = agreement;
        nearest[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(center);
      }
    }
  });
  std::vector<std::vector<std::int32_t>> clusters(static_cast<std::size_t>(centers));
  for (std::size_t row = 0; row < nearest.size(); ++row)
    if (nearest[row] >= 0) clusters[static_cast<std::size_t>(nearest[row])].push_back(static_cast<std::int32_t>(row));
  return clusters;
}

// Writes the letters and deletions of columns [first, first + count) of a row to its cells. Consecutive cells are
// `step` values apart.
void FillCells(const AlignmentTable::Row& row, const std::uint8_t* letters, std::int64_t first, std::int64_t count,
               float* cells, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) cells[i * step + letters[first + i]] = 1;
  for (const Deletions& deletions : row.deletions) {
    const std::int64_t column = deletions.column - first;
    if (column < 0 || column >= count) continue;
    float* const cell = cells + column * step + kFeatureLetters;
    cell[0] = 1;
    cell[1] = Squashed(static_cast<float>(deletions.count));
  }
}

void CheckChoices(const AlignmentTable& table, const AlignmentChoices& choices) {
  const std::int64_t rows = std::ssize(table.rows);
  const std::size_t cells = choices.centers.size() * static_cast<std::size_t>(table.residues());
  Check(!choices.centers.empty() && choices.centers.front() == 0 && choices.letters.size() == cells &&
            choices.replaced.size() == cells,
        "{} centers with {} letters and {} marks do not fit {} residues, or the query is not the first center",
        choices.centers.size(), choices.letters.size(), choices.replaced.size(), table.residues());
  for (const std::vector<std::int32_t>* const part : {&choices.centers, &choices.extra})
    for (const std::int32_t row : *part) Check(row >= 0 && row < rows, "row {} was chosen of {}", row, rows);
  for (const std::uint8_t letter : choices.letters)
    Check(letter < kFeatureLetters, "letter {} is not below {}", letter, kFeatureLetters);
}

}  // namespace

AlignmentChoices DrawChoices(const AlignmentTable& table, const AlignmentSampling& sampling, Random& random) {
  Check(sampling.rows >= 1 && sampling.extra >= 0, "there must be at least 1 center and 0 extra rows, not {} and {}",
        sampling.rows, sampling.extra);
  const double kept = sampling.uniform + sampling.profile + sampling.same;
  Check(sampling.masked >= 0 && sampling.masked <= 1 && sampling.uniform >= 0 && sampling.profile >= 0 &&
            sampling.same >= 0 && kept <= 1,
        "a share of {} of letters is replaced, {} uniformly, {} by the profile, {} by themselves: these are "
        "probabilities",
        sampling.masked, sampling.uniform, sampling.profile, sampling.same);
  const std::int64_t rows = std::ssize(table.rows), residues = table.residues();
  AlignmentChoices choices;
  std::vector<std::int32_t> order = Shuffled(rows, random);
  const std::int64_t others = std::min(sampling.rows, rows) - 1;
  choices.centers = {0};
  choices.centers.insert(choices.centers.end(), order.begin(), order.begin() + others);
  const std::int64_t extra = std::min(sampling.extra, rows - 1 - others);
  choices.extra.assign(order.begin() + others, order.begin() + others + extra);

  constexpr int kAminoAcids = 20;
  for (const std::int32_t center : choices.centers) {
    const std::vector<std::uint8_t>& own = table.rows[static_cast<std::size_t>(center)].residues;
    for (std::int64_t column = 0; column < residues; ++column) {
      std::uint8_t letter = own[static_cast<std::size_t>(column)];
      const bool replaced = random.Uniform() < sampling.masked;
      if (replaced) {
        const double kind = random.Uniform();
        if (kind < sampling.uniform)
          letter = static_cast<std::uint8_t>(random.Below(kAminoAcids));
        else if (kind < sampling.uniform + sampling.profile)
          letter = OfProfile(std::span(table.profile).subspan(column * kAlignmentLetters, kAlignmentLetters),
                             random.Uniform());
        else if (kind >= kept)
          letter = kMaskLetter;
      }
      choices.letters.push_back(letter);
      choices.replaced.push_back(replaced);
    }
  }
  return choices;
}

AlignmentFeatures FeaturesOf(const AlignmentTable& table, const AlignmentChoices& choices, std::int64_t first,
                             std::int64_t count) {
  const std::int64_t residues = table.residues(), centers = std::ssize(choices.centers),
                     extra = std::ssize(choices.extra);
  if (count < 0) count = residues - first;
  Check(first >= 0 && count >= 1 && first <= residues - count, "residues {} to {} of {}", first + 1, first + count,
        residues);
  CheckChoices(table, choices);
  AlignmentFeatures features;
  features.target = Tensor::Zeros({count, kTarget});
  features.alignment = Tensor::Zeros({centers * count, kCenterCell});
  features.extra = Tensor::Zeros({extra * count, kCell});
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint8_t type = table.rows.front().residues[static_cast<std::size_t>(first + i)];
    features.types.push_back(type);
    features.target.data<float>()[i * kTarget + 1 + type] = 1;
  }
  for (std::int64_t center = 0; center < centers; ++center) {
    const auto& own = table.rows[static_cast<std::size_t>(choices.centers[static_cast<std::size_t>(center)])].residues;
    for (std::int64_t i = first; i < first + count; ++i) {
      features.letters.push_back(own[static_cast<std::size_t>(i)]);
      features.replaced.push_back(choices.replaced[static_cast<std::size_t>(center * residues + i)]);
    }
  }
  ParallelFor(extra, [&](std::int64_t i) {
    const auto& row = table.rows[static_cast<std::size_t>(choices.extra[static_cast<std::size_t>(i)])];
    FillCells(row, row.residues.data(), first, count, features.extra.data<float>() + i * count * kCell, kCell);
  });

  const std::vector<std::vector<std::int32_t>> clusters = Clusters(table, choices);
  ParallelFor(centers, [&](std::int64_t center) {
    const std::uint8_t* const letters = choices.letters.data() + center * residues;
    const auto& own = table.rows[static_cast<std::size_t>(choices.centers[static_cast<std::size_t>(center)])];
    float* const cells = features.alignment.data<float>() + center * count * kCenterCell;
    FillCells(own, letters, first, count, cells, kCenterCell);
    const auto add = [&](const AlignmentTable::Row& row, const std::uint8_t* its) {
      for (std::int64_t i = 0; i < count; ++i) cells[i * kCenterCell + kCell + its[first + i]] += 1;
      for (const Deletions& deletions : row.deletions)
        if (const std::int64_t column = deletions.column - first; column >= 0 && column < count)
          cells[column * kCenterCell + kCell + kFeatureLetters] += static_cast<float>(deletions.count);
    };
    add(own, letters);
    const std::vector<std::int32_t>& members = clusters[static_cast<std::size_t>(center)];
    for (const std::int32_t member : members) {
      const auto& row = table.rows[static_cast<std::size_t>(member)];
      add(row, row.residues.data());
    }
    const float size = 1e-6F + static_cast<float>(members.size() + 1);
    for (std::int64_t i = 0; i < count; ++i) {
      float* const shares = cells + i * kCenterCell + kCell;
      for (int letter = 0; letter < kFeatureLetters; ++letter) shares[letter] /= size;
      shares[kFeatureLetters] = Squashed(shares[kFeatureLetters] / size);
    }
  });
  return features;
}

}  // namespace headlight

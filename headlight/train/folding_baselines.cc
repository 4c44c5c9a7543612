#include "headlight/train/folding_baselines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/protein/structure_scores.h"

namespace headlight {
namespace {

constexpr std::size_t kAlpha = 1;  // index of C alpha in atom14
constexpr std::int64_t kTypes = 21;
constexpr std::int64_t kMostSampled = 256;

bool Known(const ResidueLabels& residue) { return residue.known[kAlpha]; }
const Vector3& AlphaOf(const ResidueLabels& residue) { return residue.atoms[kAlpha]; }

// Returns the lDDT of predicted distances, given as a function of two residue indices. A residue without a prediction
// is infinitely far away.
double LddtOf(std::span<const ResidueLabels> chain,
              const std::function<double(std::size_t i, std::size_t j)>& distance) {
  double kept = 0, all = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!Known(chain[i]) || !Known(chain[j])) continue;
      const double truth = Distance(AlphaOf(chain[i]), AlphaOf(chain[j]));
      if (truth >= kLddtInclusion) continue;
      kept += KeptThresholds(std::abs(distance(i, j) - truth));
      ++all;
    }
  }
  return all > 0 ? kept / all / static_cast<double>(kLddtThresholds.size()) : 0;
}

double LddtOf(const std::vector<ResidueLabels>& prototype, std::span<const ResidueLabels> chain) {
  return LddtOf(chain, [&](std::size_t i, std::size_t j) {
    const bool there = std::max(i, j) < prototype.size() && Known(prototype[i]) && Known(prototype[j]);
    return there ? Distance(AlphaOf(prototype[i]), AlphaOf(prototype[j])) : std::numeric_limits<double>::infinity();
  });
}

// Returns the TM-score of the residues with a known C alpha. `positions` are predictions for the first residues.
double TmScoreOf(std::span<const Vector3> positions, std::span<const ResidueLabels> chain) {
  std::vector<Vector3> model, reference;
  std::int64_t length = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!Known(chain[i])) continue;
    ++length;
    if (i >= positions.size() || !std::isfinite(positions[i].x)) continue;
    model.push_back(positions[i]);
    reference.push_back(AlphaOf(chain[i]));
  }
  return model.size() < 3 ? 0 : ScoreSuperposed(model, reference, length).tm_score;
}

// Returns the mean score over all chains, computed in parallel.
BaselineScores MeanOver(const ChainSet& chains,
                        const std::function<BaselineScores(std::span<const ResidueLabels> chain)>& score) {
  const auto count = std::ssize(chains.examples);
  std::vector<BaselineScores> scores(chains.examples.size());
  ParallelFor(count, [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    scores[index] = score(chains.examples[index].residues);
  });
  BaselineScores mean;
  for (const BaselineScores& one : scores) {
    mean.lddt_ca += one.lddt_ca / static_cast<double>(count);
    mean.tm_score += one.tm_score / static_cast<double>(count);
  }
  return mean;
}

// Returns points [n] in space whose distances approximate `distances` [n, n]. Uses the three largest eigenvectors of
// the centered squared distances.
std::vector<Vector3> Embedded(const std::vector<double>& distances, std::size_t n) {
  std::vector<double> product(n * n), row_means(n);
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) row_means[i] += distances[i * n + j] * distances[i * n + j];
    row_means[i] /= static_cast<double>(n);
    mean += row_means[i] / static_cast<double>(n);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      product[i * n + j] = -0.5 * (distances[i * n + j] * distances[i * n + j] - row_means[i] - row_means[j] + mean);
  // Subspace iteration starts from fixed smooth directions, because protein chains are smooth too.
  constexpr int kIterations = 300;
  std::array<std::vector<double>, 3> axes;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < n; ++i)
      axes[k].push_back(std::cos(static_cast<double>(k + 1) * (static_cast<double>(i) + 0.3)));
  std::array<double, 3> sizes{};
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> next(n);
      for (std::size_t i = 0; i < n; ++i)
        next[i] = std::inner_product(axes[k].begin(), axes[k].end(),
                                     product.begin() + static_cast<std::ptrdiff_t>(i * n), 0.0);
      for (std::size_t before = 0; before < k; ++before) {
        const double share = std::inner_product(next.begin(), next.end(), axes[before].begin(), 0.0);
        for (std::size_t i = 0; i < n; ++i) next[i] -= share * axes[before][i];
      }
      sizes[k] = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
      if (sizes[k] > 0)
        for (double& value : next) value /= sizes[k];
      axes[k] = std::move(next);
    }
  }
  std::vector<Vector3> points;
  for (std::size_t i = 0; i < n; ++i)
    points.push_back(
        {std::sqrt(sizes[0]) * axes[0][i], std::sqrt(sizes[1]) * axes[1][i], std::sqrt(sizes[2]) * axes[2][i]});
  return points;
}

}  // namespace

Prototype BestPrototype(const ChainSet& train) {
  const auto count = std::ssize(train.examples), sampled = std::min(count, kMostSampled);
  Check(count > 0, "there is no chain to choose a prototype from");
  std::vector<double> sums(train.examples.size());
  ParallelFor(count, [&](std::int64_t i) {
    const std::vector<ResidueLabels>& candidate = train.examples[static_cast<std::size_t>(i)].residues;
    for (std::int64_t k = 0; k < sampled; ++k)
      if (const std::int64_t other = k * count / sampled; other != i)
        sums[static_cast<std::size_t>(i)] +=
            LddtOf(candidate, train.examples[static_cast<std::size_t>(other)].residues);
  });
  const ChainExample& best = train.examples[static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin())];
  return {best.name, best.residues};
}

BaselineScores ScorePrototype(const Prototype& prototype, const ChainSet& chains) {
  std::vector<Vector3> positions;
  for (const ResidueLabels& residue : prototype.residues)
    positions.push_back(Known(residue) ? AlphaOf(residue) : Vector3{std::numeric_limits<double>::infinity(), 0, 0});
  return MeanOver(chains, [&](std::span<const ResidueLabels> chain) {
    return BaselineScores{LddtOf(prototype.residues, chain), TmScoreOf(positions, chain)};
  });
}

MeanDistances::MeanDistances(const ChainSet& train) {
  constexpr double kPriorWeight = 10;  // weight of the mean over all type pairs, as a number of observations
  std::int64_t farthest = 0;
  for (const ChainExample& example : train.examples)
    farthest = std::max<std::int64_t>(farthest, example.residues.back().position - example.residues.front().position);
  constexpr auto kPairs = static_cast<std::size_t>(kTypes * kTypes);
  const auto separations = static_cast<std::size_t>(farthest) + 1;
  std::vector<double> counts(separations * kPairs), all(separations), all_counts(separations);
  means_.resize(counts.size());
  for (const ChainExample& example : train.examples) {
    for (const ResidueLabels& first : example.residues) {
      for (const ResidueLabels& second : example.residues) {
        if (second.position <= first.position || !Known(first) || !Known(second)) continue;
        const auto apart = static_cast<std::size_t>(second.position - first.position);
        const std::size_t cell = apart * kPairs + static_cast<std::size_t>(first.type * kTypes + second.type);
        const double distance = Distance(AlphaOf(first), AlphaOf(second));
        means_[cell] += distance;
        ++counts[cell];
        all[apart] += distance;
        ++all_counts[apart];
      }
    }
  }
  for (std::size_t apart = 1; apart < separations; ++apart) {
    all[apart] = all_counts[apart] > 0 ? all[apart] / all_counts[apart] : all[apart - 1];
    for (std::size_t cell = apart * kPairs; cell < (apart + 1) * kPairs; ++cell)
      means_[cell] = (means_[cell] + kPriorWeight * all[apart]) / (counts[cell] + kPriorWeight);
  }
}

std::vector<double> MeanDistances::Of(std::span<const ResidueLabels> residues) const {
  const std::int64_t last = std::ssize(means_) / (kTypes * kTypes) - 1;
  std::vector<double> distances;
  for (const ResidueLabels& one : residues) {
    for (const ResidueLabels& other : residues) {
      const auto& [first, second] = one.position <= other.position ? std::tie(one, other) : std::tie(other, one);
      const std::int64_t apart = std::min<std::int64_t>(second.position - first.position, last);
      distances.push_back(
          apart == 0 ? 0 : means_[static_cast<std::size_t>((apart * kTypes + first.type) * kTypes + second.type)]);
    }
  }
  return distances;
}

BaselineScores ScoreMeanDistances(const MeanDistances& distances, const ChainSet& chains) {
  return MeanOver(chains, [&](std::span<const ResidueLabels> chain) {
    const std::size_t n = chain.size();
    const std::vector<double> of_chain = distances.Of(chain);
    std::vector<Vector3> points = Embedded(of_chain, n);
    double tm_score = TmScoreOf(points, chain);
    for (Vector3& point : points) point.z = -point.z;
    tm_score = std::max(tm_score, TmScoreOf(points, chain));
    return BaselineScores{LddtOf(chain, [&](std::size_t i, std::size_t j) { return of_chain[i * n + j]; }), tm_score};
  });
}

}  // namespace headlight

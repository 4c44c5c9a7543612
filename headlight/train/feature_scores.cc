#include "headlight/train/feature_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/gemm.h"
#include "headlight/train/lbfgs.h"

namespace headlight {
namespace {

constexpr double kTemperature = 0.07;                     // temperature of the vote weights
constexpr std::int64_t kCosines = std::int64_t{1} << 24;  // maximum number of cosines in memory

Tensor UnitVectors(const Tensor& vectors) {
  const Tensor units = vectors.Clone();
  ParallelFor(units.rows(), [&](std::int64_t row) {
    const std::span<float> unit(units.matrix<float>().row(row), static_cast<std::size_t>(units.columns()));
    const double norm = std::sqrt(std::inner_product(unit.begin(), unit.end(), unit.begin(), 0.0));
    for (float& number : unit) number = static_cast<float>(number / std::max(norm, 1e-12));
  });
  return units;
}

// Returns the class with the most votes among the nearest neighbors, or the smallest such class in a tie. The example
// `itself` does not vote.
std::int32_t Vote(std::span<const float> cosines, const std::vector<std::int32_t>& classes, std::int64_t neighbors,
                  std::int64_t itself) {
  std::vector<std::pair<float, std::int64_t>> nearest;  // negated cosines and indices
  nearest.reserve(cosines.size());
  for (std::int64_t i = 0; i < std::ssize(cosines); ++i)
    if (i != itself) nearest.emplace_back(-cosines[static_cast<std::size_t>(i)], i);
  const auto kept = nearest.begin() + std::min<std::ptrdiff_t>(neighbors, std::ssize(nearest));
  std::partial_sort(nearest.begin(), kept, nearest.end());
  std::map<std::int32_t, double> votes;
  for (auto one = nearest.begin(); one != kept; ++one)
    votes[classes[static_cast<std::size_t>(one->second)]] += std::exp(-static_cast<double>(one->first) / kTemperature);
  const auto best = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return best == votes.end() ? -1 : best->first;
}

std::vector<std::int32_t> Votes(const LabeledFeatures& known, const Tensor& queries, std::int64_t neighbors,
                                bool among_others) {
  const std::int64_t count = known.vectors.rows(), dimension = known.vectors.columns();
  Check(queries.columns() == dimension, "features have {} numbers each, but the labeled ones have {}",
        queries.columns(), dimension);
  kernels::PackedMatrix<float> packed(dimension, count);
  packed.Pack(UnitVectors(known.vectors).matrix<float>(), /*transposed=*/true);
  const Tensor units = UnitVectors(queries);
  std::vector<std::int32_t> found(static_cast<std::size_t>(queries.rows()));
  const std::int64_t at_once = std::clamp<std::int64_t>(kCosines / std::max<std::int64_t>(1, count), 1, 256);
  for (std::int64_t begin = 0; begin < queries.rows(); begin += at_once) {
    const std::int64_t rows = std::min(at_once, queries.rows() - begin);
    const Tensor cosines = Tensor::Empty({rows, count});
    kernels::Gemm<float>(units.ViewRows(begin, rows).matrix<float>(), packed, cosines.matrix<float>());
    ParallelFor(rows, [&](std::int64_t row) {
      found[static_cast<std::size_t>(begin + row)] =
          Vote({cosines.matrix<float>().row(row), static_cast<std::size_t>(count)}, known.classes, neighbors,
               among_others ? begin + row : -1);
    });
  }
  return found;
}

// Logistic regression on shifted and scaled x [rows, dimension], with weights [dimension + 1, classes].
class Regression {
 public:
  Regression(const Tensor& x, const std::vector<float>& mean, const std::vector<float>& scale, std::int64_t classes)
      : x_(x.matrix<float>()), mean_(mean), scale_(scale), classes_(classes) {}

  void Probabilities(std::int64_t row, const std::vector<double>& weights, std::span<double> scores) const {
    std::copy_n(weights.end() - classes_, classes_, scores.begin());
    for (std::int64_t i = 0; i < x_.columns; ++i) {
      const double value = At(row, i);
      const double* const w = weights.data() + i * classes_;
      for (std::int64_t c = 0; c < classes_; ++c) scores[static_cast<std::size_t>(c)] += value * w[c];
    }
    const double most = *std::ranges::max_element(scores);
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - most);
    for (double& score : scores) score /= sum;
  }

  double At(std::int64_t row, std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return static_cast<double>((x_.row(row)[i] - mean_[at]) * scale_[at]);
  }

  // Returns the mean negative log-probability of the correct classes plus the penalty, and computes its gradient.
  double operator()(const std::vector<std::int32_t>& right, const std::vector<double>& weights,
                    std::vector<double>& gradient) const {
    // The number of partial sums is fixed. The result therefore does not depend on the number of threads.
    constexpr std::int64_t kSums = 16;
    std::vector<double> losses(kSums);
    std::vector<std::vector<double>> gradients(kSums);
    ParallelFor(kSums, [&](std::int64_t part) {
      std::vector<double>& sum = gradients[static_cast<std::size_t>(part)];
      sum.assign(weights.size(), 0);
      std::vector<double> scores(static_cast<std::size_t>(classes_));
      for (std::int64_t row = x_.rows * part / kSums; row < x_.rows * (part + 1) / kSums; ++row) {
        Probabilities(row, weights, scores);
        double& of_right = scores[static_cast<std::size_t>(right[static_cast<std::size_t>(row)])];
        losses[static_cast<std::size_t>(part)] -= std::log(std::max(of_right, 1e-300));
        of_right -= 1;
        for (std::int64_t i = 0; i <= x_.columns; ++i) {
          const double value = i < x_.columns ? At(row, i) : 1;
          double* const g = sum.data() + i * classes_;
          for (std::int64_t c = 0; c < classes_; ++c) g[c] += value * scores[static_cast<std::size_t>(c)];
        }
      }
    });
    double loss = 0;
    std::ranges::fill(gradient, 0);
    for (std::size_t part = 0; part < kSums; ++part) {
      loss += losses[part];
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += gradients[part][i];
    }
    const auto penalized = gradient.size() - static_cast<std::size_t>(classes_);
    for (std::size_t i = 0; i < penalized; ++i) {
      loss += weights[i] * weights[i] / 2;
      gradient[i] += weights[i];
    }
    for (double& part : gradient) part /= static_cast<double>(x_.rows);
    return loss / static_cast<double>(x_.rows);
  }

 private:
  Matrix<const float> x_;
  const std::vector<float>&mean_, &scale_;
  std::int64_t classes_;
};

}  // namespace

std::vector<std::int32_t> NeighborClasses(const LabeledFeatures& known, const Tensor& queries, std::int64_t neighbors) {
  Check(neighbors >= 1 && neighbors <= known.vectors.rows(), "{} neighbors: there are {} labeled examples", neighbors,
        known.vectors.rows());
  return Votes(known, queries, neighbors, /*among_others=*/false);
}

double NeighborAccuracy(const LabeledFeatures& features, std::int64_t neighbors) {
  const std::vector<std::int32_t> found = Votes(features, features.vectors, neighbors, /*among_others=*/true);
  const auto right = std::inner_product(found.begin(), found.end(), features.classes.begin(), std::int64_t{0},
                                        std::plus<>(), std::equal_to<>());
  return 100.0 * static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(1, found.size()));
}

LinearProbe::LinearProbe(const LabeledFeatures& features)
    : dimension_(features.vectors.columns()),
      classes_(features.classes.empty() ? 0 : *std::ranges::max_element(features.classes) + 1),
      mean_(static_cast<std::size_t>(dimension_)),
      scale_(mean_.size()),
      weights_(static_cast<std::size_t>((dimension_ + 1) * classes_)) {
  Check(std::ranges::any_of(features.classes, [&](std::int32_t one) { return one != features.classes.front(); }),
        "a linear probe needs labeled examples of two classes or more");
  const Matrix<const float> x = features.vectors.matrix<float>();
  const auto rows = static_cast<double>(x.rows);
  std::vector<double> sums(mean_.size()), squares(mean_.size());
  for (std::int64_t row = 0; row < x.rows; ++row)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(x.row(row)[i]);
  for (std::size_t i = 0; i < sums.size(); ++i) mean_[i] = static_cast<float>(sums[i] / rows);
  for (std::int64_t row = 0; row < x.rows; ++row)
    for (std::size_t i = 0; i < sums.size(); ++i)
      squares[i] += std::pow(static_cast<double>(x.row(row)[i]) - sums[i] / rows, 2);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double deviation = std::sqrt(squares[i] / rows);
    // A feature that varies only by rounding errors carries no information and is not scaled.
    scale_[i] = deviation > 1e-7 * std::abs(sums[i] / rows) ? static_cast<float>(1 / deviation) : 1;
  }
  const Regression regression(features.vectors, mean_, scale_, classes_);
  converged_ = Minimize([&](const std::vector<double>& weights,
                            std::vector<double>& gradient) { return regression(features.classes, weights, gradient); },
                        weights_);
}

std::vector<double> LinearProbe::Probabilities(const Tensor& queries) const {
  Check(queries.columns() == dimension_, "the linear probe has features of {} numbers, not {}", dimension_,
        queries.columns());
  const Regression regression(queries, mean_, scale_, classes_);
  const auto classes = static_cast<std::size_t>(classes_);
  std::vector<double> all(static_cast<std::size_t>(queries.rows()) * classes);
  ParallelFor(queries.rows(), [&](std::int64_t row) {
    regression.Probabilities(row, weights_, std::span(all).subspan(static_cast<std::size_t>(row) * classes, classes));
  });
  return all;
}

std::vector<std::int32_t> LinearProbe::Classes(const Tensor& queries) const {
  const std::vector<double> probabilities = Probabilities(queries);
  std::vector<std::int32_t> found;
  for (auto row = probabilities.begin(); row != probabilities.end(); row += classes_)
    found.push_back(static_cast<std::int32_t>(std::max_element(row, row + classes_) - row));
  return found;
}

}  // namespace headlight

#include "headlight/ops/smooth_lddt.h"

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {
namespace {

constexpr double kRadius = 15;     // only pairs within this distance in angstrom count
constexpr double kEpsilon = 1e-4;  // added in the square root, so that coinciding points have a gradient

template <typename T>
T DistanceOf(const T* a, const T* b, T epsilon) {
  const T x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return std::sqrt(x * x + y * y + z * z + epsilon);
}

template <typename T>
struct Score {
  T value = 0, slope = 0;  // slope: derivative of the value with respect to the error
};

template <typename T>
Score<T> ScoreOf(T error) {
  constexpr std::array<T, 4> kSteps = {T(0.5), 1, 2, 4};
  Score<T> score;
  for (const T step : kSteps) {
    const T right = 1 / (1 + std::exp(error - step));
    score.value += right / 4;
    score.slope -= right * (1 - right) / 4;
  }
  return score;
}

}  // namespace

Tensor SmoothLddtLoss(const Tensor& predicted, const Tensor& truth, std::span<const std::uint8_t> known, double scale) {
  Check(predicted.shape() == truth.shape() && predicted.dtype() == truth.dtype() && predicted.columns() == 3 &&
            predicted.rows() == std::ssize(known),
        "SmoothLddtLoss: points of shapes {} and {} and {} marks do not fit", ToString(predicted.shape()),
        ToString(truth.shape()), known.size());
  const bool wants_gradient = RequiresGradient({&predicted});
  const Tensor loss = Tensor::Empty({1}, predicted.dtype());
  Tensor gradient;
  if (wants_gradient) gradient = Tensor::Zeros(predicted.shape(), predicted.dtype());
  Dispatch(loss.dtype(), [&]<typename T>(T) {
    const Matrix<T> at = predicted.matrix<T>(), true_at = truth.matrix<T>();
    const Matrix<T> flows = wants_gradient ? gradient.matrix<T>() : Matrix<T>{};
    std::vector<double> sums(known.size()), pairs(known.size());
    ParallelFor(std::ssize(known), [&](std::int64_t i) {
      const auto row = static_cast<std::size_t>(i);
      if (known[row] == 0) return;
      for (std::int64_t j = 0; j < std::ssize(known); ++j) {
        const T distance = DistanceOf<T>(true_at.row(i), true_at.row(j), 0);
        if (i == j || known[static_cast<std::size_t>(j)] == 0 || distance >= static_cast<T>(kRadius)) continue;
        const T own = DistanceOf<T>(at.row(i), at.row(j), static_cast<T>(kEpsilon));
        const Score<T> score = ScoreOf<T>(std::abs(own - distance));
        sums[row] += 1 - static_cast<double>(score.value);
        pairs[row] += 1;
        if (!wants_gradient) continue;
        // Each pair is visited twice, once from each point. The full gradient is therefore added to this point only.
        const T slope = -2 * (own < distance ? -score.slope : score.slope) / own;
        for (std::int64_t axis = 0; axis < 3; ++axis) flows.row(i)[axis] += slope * (at.row(i)[axis] - at.row(j)[axis]);
      }
    });
    const double count = std::accumulate(pairs.begin(), pairs.end(), 0.0);
    const double factor = count > 0 ? scale / count : 0;
    loss.data<T>()[0] = static_cast<T>(factor * std::accumulate(sums.begin(), sums.end(), 0.0));
    if (!wants_gradient) return;
    for (std::int64_t i = 0; i < gradient.elements(); ++i) gradient.data<T>()[i] *= static_cast<T>(factor);
  });
  return Record(loss, {&predicted}, [node = predicted.node(), gradient](const Tensor& incoming) {
    ScaleByIncoming(gradient, incoming);
    Accumulate(node, gradient);
  });
}

}  // namespace headlight::ops

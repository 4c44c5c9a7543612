#include "headlight/train/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

namespace headlight {
namespace {

using Vector = std::vector<double>;

double Dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void AddScaled(Vector& to, double scale, const Vector& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += scale * from[i];
}

Vector Difference(Vector a, const Vector& b) {
  AddScaled(a, -1, b);
  return a;
}

struct Pair {
  Vector step, change;  // differences of x and of the gradient
  double inverse;       // 1 / (step . change)
};

// Returns minus the inverse Hessian times the gradient (Nocedal and Wright, "Numerical Optimization", algorithm 7.4).
Vector Direction(const std::deque<Pair>& history, Vector gradient) {
  Vector shares;
  for (auto pair = history.rbegin(); pair != history.rend(); ++pair) {
    shares.push_back(pair->inverse * Dot(pair->step, gradient));
    AddScaled(gradient, -shares.back(), pair->change);
  }
  const double scale = history.empty()
                           ? 1 / std::sqrt(Dot(gradient, gradient))
                           : 1 / (history.back().inverse * Dot(history.back().change, history.back().change));
  for (double& number : gradient) number *= scale;
  for (const Pair& pair : history) {
    AddScaled(gradient, shares.back() - pair.inverse * Dot(pair.change, gradient), pair.step);
    shares.pop_back();
  }
  for (double& number : gradient) number = -number;
  return gradient;
}

// Runs a backtracking line search: tries the step lengths 1, 1/2, 1/4, ... until the Armijo condition holds. Computes
// the new x and its gradient, and updates the value. Returns false if the condition holds for no step length.
bool Search(const Objective& objective, const Vector& x, const Vector& direction, double slope, double& value,
            Vector& next, Vector& gradient) {
  for (double length = 1; slope < 0 && length > 1e-12; length /= 2) {
    next = x;
    AddScaled(next, length, direction);
    const double next_value = objective(next, gradient);
    if (next_value > value + 1e-4 * length * slope || std::isnan(next_value)) continue;
    value = next_value;
    return true;
  }
  return false;
}

}  // namespace

bool Minimize(const Objective& objective, Vector& x, const LbfgsOptions& options) {
  Vector gradient(x.size()), next(x.size()), next_gradient(x.size());
  double value = objective(x, gradient);
  std::deque<Pair> history;
  const auto at_minimum = [&] {
    return std::ranges::all_of(gradient, [&](double part) { return std::abs(part) <= options.tolerance; });
  };
  for (std::int64_t iteration = 0; iteration < options.iterations && !at_minimum(); ++iteration) {
    const Vector direction = Direction(history, gradient);
    if (!Search(objective, x, direction, Dot(gradient, direction), value, next, next_gradient)) {
      if (history.empty()) return false;
      history.clear();  // not a descent direction: restart along the gradient
      continue;
    }
    Pair pair{Difference(next, x), Difference(next_gradient, gradient), 0};
    std::swap(x, next);
    std::swap(gradient, next_gradient);
    const double curvature = Dot(pair.step, pair.change);
    if (curvature <= 1e-12 * Dot(pair.change, pair.change)) continue;
    pair.inverse = 1 / curvature;
    history.push_back(std::move(pair));
    if (history.size() > options.history) history.pop_front();
  }
  return at_minimum();
}

}  // namespace headlight

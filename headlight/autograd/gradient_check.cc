#include "headlight/autograd/gradient_check.h"

#include <algorithm>
#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/base/random.h"

namespace headlight {
namespace {

using Jacobian = std::vector<std::vector<double>>;  // [input][output * elements + element]

Jacobian Analytic(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                  std::int64_t outputs) {
  Jacobian jacobian(inputs.size());
  for (std::int64_t output = 0; output < outputs; ++output) {
    Tape tape;
    std::vector<Tensor> leaves;
    for (const Tensor& input : inputs) leaves.push_back(tape.Watch(input));
    const Tensor y = f(leaves);
    // The loss is element `output` of y, so its gradient is one row of the Jacobian.
    const Tensor pick = Tensor::Zeros(y.shape(), DType::float64);
    pick.span<double>()[static_cast<std::size_t>(output)] = 1;
    tape.Backward(Record(Tensor::Zeros({1}, DType::float64), {&y},
                         [node = y.node(), pick](const Tensor&) { Accumulate(node, pick); }));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<double> row = tape.GradientOf(leaves[i]).ToVector<double>();
      jacobian[i].insert(jacobian[i].end(), row.begin(), row.end());
    }
  }
  return jacobian;
}

Jacobian Numeric(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                 std::int64_t outputs) {
  constexpr double step = 1e-5;
  Jacobian jacobian(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t elements = inputs[i].elements();
    jacobian[i].resize(static_cast<std::size_t>(outputs * elements));
    for (std::int64_t element = 0; element < elements; ++element) {
      std::vector<Tensor> moved = inputs;
      moved[i] = inputs[i].Clone();
      double& value = moved[i].data<double>()[element];
      const double original = value;
      value = original + step;
      const std::vector<double> above = f(moved).ToVector<double>();
      value = original - step;
      const std::vector<double> below = f(moved).ToVector<double>();
      for (std::int64_t output = 0; output < outputs; ++output) {
        const auto at = static_cast<std::size_t>(output);
        jacobian[i][static_cast<std::size_t>(output * elements + element)] = (above[at] - below[at]) / (2 * step);
      }
    }
  }
  return jacobian;
}

}  // namespace

std::string CheckGradients(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                           const std::vector<Tensor>& inputs, double tolerance) {
  const std::int64_t outputs = f(inputs).elements();
  const Jacobian analytic = Analytic(f, inputs, outputs), numeric = Numeric(f, inputs, outputs);
  double largest = 1e-3;  // minimum scale of the comparison, for gradients that are all zero
  for (const auto& entries : numeric)
    for (const double entry : entries) largest = std::max(largest, std::abs(entry));
  double worst = tolerance * largest;
  std::string report;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto elements = static_cast<std::size_t>(inputs[i].elements());
    for (std::size_t at = 0; at < numeric[i].size(); ++at) {
      const double difference = std::abs(numeric[i][at] - analytic[i][at]);
      if (difference <= worst) continue;
      worst = difference;
      report = fmt::format("input {}: d output[{}] / d element[{}] is {:.9g}, by finite differences {:.9g}", i,
                           at / elements, at % elements, analytic[i][at], numeric[i][at]);
      if (std::isnan(difference)) return report;
    }
  }
  return report;
}

Tensor RandomTensor(const Shape& shape, std::uint64_t seed, double scale) {
  Random random(seed, /*stream=*/0x7e57);
  Tensor tensor = Tensor::Empty(shape, DType::float64);
  for (double& value : tensor.span<double>()) value = scale * (2 * random.Uniform() - 1);
  return tensor;
}

}  // namespace headlight

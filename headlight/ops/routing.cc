#include "headlight/ops/routing.h"

#include <algorithm>

#include "headlight/autograd/tape.h"
#include "headlight/ops/softmax.h"

namespace headlight::ops {
namespace {

// Writes the indices of the largest values, in descending order of the values. If values are equal, the lower index
// comes first.
template <typename T>
void Largest(std::span<const T> values, std::span<std::int32_t> chosen) {
  std::vector<bool> taken(values.size());
  for (std::int32_t& choice : chosen) {
    std::size_t best = values.size();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!taken[i] && (best == values.size() || values[i] > values[best])) best = i;
    taken[best] = true;
    choice = static_cast<std::int32_t>(best);
  }
}

// Returns the chosen columns of each row, divided by their sum if `normalized` is true.
Tensor ChosenWeights(const Tensor& probabilities, const std::vector<std::int32_t>& chosen, std::int64_t per_token,
                     bool normalized) {
  const Tensor weights = Tensor::Empty({probabilities.rows(), per_token}, probabilities.dtype());
  Dispatch(weights.dtype(), [&]<typename T>(T) {
    for (std::int64_t token = 0; token < weights.rows(); ++token) {
      const T* const from = probabilities.matrix<T>().row(token);
      T* const to = weights.matrix<T>().row(token);
      T sum = 0;
      for (std::int64_t i = 0; i < per_token; ++i) {
        to[i] = from[chosen[static_cast<std::size_t>(token * per_token + i)]];
        sum += to[i];
      }
      for (std::int64_t i = 0; normalized && i < per_token; ++i) to[i] /= sum;
    }
  });
  if (!RequiresGradient({&probabilities})) return weights;
  return Record(weights, {&probabilities},
                [node = probabilities.node(), probabilities = probabilities.Detached(), weights, chosen, per_token,
                 normalized](const Tensor& d_weights) {
                  Dispatch(weights.dtype(), [&]<typename T>(T) {
                    const Matrix<T> d_probabilities = SumSlotFor(node).template matrix<T>();
                    for (std::int64_t token = 0; token < weights.rows(); ++token) {
                      const T* const d_weight = d_weights.matrix<T>().row(token);
                      const T* const weight = weights.matrix<T>().row(token);
                      const std::int32_t* const experts = chosen.data() + token * per_token;
                      T sum = 1, mean = 0;
                      if (normalized) {
                        sum = 0;
                        for (std::int64_t i = 0; i < per_token; ++i) {
                          sum += probabilities.matrix<T>().row(token)[experts[i]];
                          mean += d_weight[i] * weight[i];
                        }
                      }
                      for (std::int64_t i = 0; i < per_token; ++i)
                        d_probabilities.row(token)[experts[i]] += (d_weight[i] - mean) / sum;
                    }
                  });
                });
}

}  // namespace

Routing Route(const Tensor& logits, std::int32_t per_token, bool normalized) {
  Check(logits.shape().rank() == 2 && per_token >= 1 && per_token <= logits.columns(),
        "Route: {} experts per token do not fit logits of shape {}", per_token, ToString(logits.shape()));
  const Tensor probabilities = Softmax(logits);
  std::vector<std::int32_t> chosen(static_cast<std::size_t>(logits.rows() * per_token));
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    for (std::int64_t token = 0; token < logits.rows(); ++token)
      Largest<T>(
          {probabilities.matrix<T>().row(token), static_cast<std::size_t>(logits.columns())},
          std::span(chosen).subspan(static_cast<std::size_t>(token * per_token), static_cast<std::size_t>(per_token)));
  });
  const Tensor weights = ChosenWeights(probabilities, chosen, per_token, normalized);
  return {.probabilities = probabilities, .experts = std::move(chosen), .weights = weights};
}

Tensor LoadBalancingLoss(std::span<const Routing> layers) {
  Check(!layers.empty(), "LoadBalancingLoss: there is no layer");
  const std::int64_t experts = layers[0].probabilities.columns();
  const DType dtype = layers[0].probabilities.dtype();
  std::int64_t tokens = 0;
  std::vector<double> factors(static_cast<std::size_t>(experts));  // factors of the sums of each expert's probabilities
  const Tensor* on_tape = nullptr;
  for (const Routing& layer : layers) {
    Check(layer.probabilities.columns() == experts && layer.probabilities.dtype() == dtype,
          "LoadBalancingLoss: layers of {} and {} experts", experts, layer.probabilities.columns());
    tokens += layer.probabilities.rows();
    for (const std::int32_t expert : layer.experts) ++factors[static_cast<std::size_t>(expert)];
    if (layer.probabilities.node() != nullptr) on_tape = &layer.probabilities;
  }
  const double rows = static_cast<double>(std::max<std::int64_t>(1, tokens));
  for (double& factor : factors) factor *= static_cast<double>(experts) / (rows * rows);
  const Tensor loss = Tensor::Empty({1}, dtype);
  double sum = 0;
  std::vector<Node*> nodes;
  for (const Routing& layer : layers) {
    nodes.push_back(layer.probabilities.node());
    Dispatch(dtype, [&]<typename T>(T) {
      for (std::int64_t token = 0; token < layer.probabilities.rows(); ++token)
        for (std::int64_t expert = 0; expert < experts; ++expert)
          sum += factors[static_cast<std::size_t>(expert)] *
                 static_cast<double>(layer.probabilities.matrix<T>().row(token)[expert]);
    });
  }
  loss.Fill(sum);
  return Record(loss, {on_tape}, [nodes, factors, dtype](const Tensor& d_loss) {
    Dispatch(dtype, [&]<typename T>(T) {
      for (Node* const node : nodes) {
        if (node == nullptr) continue;
        const Matrix<T> d_probabilities = SumSlotFor(node).template matrix<T>();
        for (std::int64_t token = 0; token < d_probabilities.rows; ++token)
          for (std::size_t expert = 0; expert < factors.size(); ++expert)
            d_probabilities.row(token)[expert] += d_loss.data<T>()[0] * static_cast<T>(factors[expert]);
      }
    });
  });
}

}  // namespace headlight::ops

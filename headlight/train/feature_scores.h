// Evaluation of frozen features by labelled examples: nearest neighbours, and a linear probe.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct LabelledFeatures {
  Tensor vectors;                     // [examples, dimension], float32
  std::vector<std::int32_t> classes;  // of each, from 0
};

// The class of each row of `asked` [examples, dimension]: the one that its `neighbours` nearest among the known vote
// for, by cosine and with a weight of exp(cosine / 0.07), as DINO evaluates features (Caron et al., 2021, section 4.1).
// Throws Error where there are fewer than `neighbours`.
HEADLIGHT_API std::vector<std::int32_t> NeighbourClasses(const LabelledFeatures& known, const Tensor& asked,
                                                         std::int64_t neighbours);

// The share in per cent of the features whose class their nearest among the others (all of them, where those are fewer)
// vote for, likewise.
HEADLIGHT_API double NeighbourAccuracy(const LabelledFeatures& features, std::int64_t neighbours);

// Logistic regression on features standardized to mean 0 and deviation 1 over the training examples: it
// minimises the sum of the negative log-probabilities plus half of the sum of the squared weights, without the biases:
// as scikit-learn's LogisticRegression with C = 1 after a StandardScaler.
class HEADLIGHT_API LinearProbe {
 public:
  // Throws Error where the features have fewer than two classes.
  explicit LinearProbe(const LabelledFeatures& features);

  std::vector<std::int32_t> Classes(const Tensor& asked) const;  // of each row
  std::vector<double> Probabilities(const Tensor& asked) const;  // [rows, classes]
  bool converged() const { return converged_; }                  // whether the minimum was reached

 private:
  std::int64_t dimension_, classes_;
  std::vector<float> mean_, scale_;  // [dimension]
  std::vector<double> weights_;      // [dimension + 1, classes], the biases last
  bool converged_ = false;
};

}  // namespace headlight

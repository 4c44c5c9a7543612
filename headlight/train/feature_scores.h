// Evaluation of frozen features on labeled examples: k nearest neighbors and a linear probe.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct LabeledFeatures {
  Tensor vectors;                     // [examples, dimension], float32
  std::vector<std::int32_t> classes;  // class of each example, from 0
};

/// Classifies by k nearest neighbors, as DINO evaluates features (Caron et al., 2021, section 4.1). Each of the
/// `neighbors` most similar known vectors votes for its class with weight exp(cosine / 0.07). Returns the class of
/// each row of `queries` [examples, dimension]. Throws Error if there are fewer than `neighbors` known vectors.
HEADLIGHT_API std::vector<std::int32_t> NeighborClasses(const LabeledFeatures& known, const Tensor& queries,
                                                        std::int64_t neighbors);

/// Returns the leave-one-out accuracy of the classifier above, in per cent. If there are fewer than `neighbors` other
/// vectors, all of them vote.
HEADLIGHT_API double NeighborAccuracy(const LabeledFeatures& features, std::int64_t neighbors);

/// Logistic regression on features that are standardized to mean 0 and standard deviation 1 over the training examples.
/// It minimizes the sum of the negative log-probabilities plus half the sum of the squared weights (without the
/// biases), like scikit-learn's LogisticRegression with C = 1 after a StandardScaler.
class HEADLIGHT_API LinearProbe {
 public:
  /// Throws Error if the features have fewer than two classes.
  explicit LinearProbe(const LabeledFeatures& features);

  std::vector<std::int32_t> Classes(const Tensor& queries) const;  // class of each row
  std::vector<double> Probabilities(const Tensor& queries) const;  // [rows, classes]
  bool converged() const { return converged_; }                    // true if the minimum was reached

 private:
  std::int64_t dimension_, classes_;
  std::vector<float> mean_, scale_;  // [dimension]
  std::vector<double> weights_;      // [dimension + 1, classes]; the last row has the biases
  bool converged_ = false;
};

}  // namespace headlight

// Weights of the classes in a loss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"

namespace headlight {

/// Returns the weight of each label in the cross-entropy. The rule "balanced" makes each weight inversely proportional
/// to the label's frequency in `texts`. A rule "LABEL=WEIGHT,..." sets weights, and all other labels have weight 1. The
/// weights are scaled so that their mean over the labels of all texts is 1. The loss over all texts then equals
/// PyTorch's CrossEntropyLoss(weight), and the learning rate does not need to change. Throws Error for any other rule
/// and for unknown labels.
HEADLIGHT_API std::vector<double> ClassWeights(std::string_view rule, const std::vector<std::string>& labels,
                                               const std::vector<TextExample>& texts);

}  // namespace headlight

// Weights of the classes in a loss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"

namespace headlight {

/// Returns for each label the weight of its cross-entropy. The rule "balanced" makes a weight inversely proportional to
/// the label's frequency in `texts`. A rule "LABEL=WEIGHT,..." gives weights, and labels that are not named have weight
/// 1. The weights are scaled so that their mean over the labels of all texts is 1. The loss of all texts together then
/// equals PyTorch's CrossEntropyLoss(weight), and the learning rate keeps its meaning. Throws Error for any other rule
/// and for unknown labels.
HEADLIGHT_API std::vector<double> ClassWeights(std::string_view rule, const std::vector<std::string>& labels,
                                               const std::vector<TextExample>& texts);

}  // namespace headlight

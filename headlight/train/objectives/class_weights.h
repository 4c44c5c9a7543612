// Weights of the classes in a loss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"

namespace headlight {

// A weight for each label, by which its cross-entropy is multiplied: of "balanced" in inverse proportion to how often
// it is asked for, or of "LABEL=WEIGHT,...", where labels that are not named weigh 1. They are scaled so that their
// mean over all labels that are asked for is 1: the loss of all texts together is PyTorch's CrossEntropyLoss(weight),
// and the learning rate keeps its meaning. Throws Error for a rule that is none of these or names other labels.
HEADLIGHT_API std::vector<double> ClassWeights(std::string_view rule, const std::vector<std::string>& labels,
                                               const std::vector<TextExample>& texts);

}  // namespace headlight

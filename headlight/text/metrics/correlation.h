// Correlations of predicted numbers with the right ones.
#pragma once

#include <span>

#include "headlight/base/export.h"

namespace headlight {

// Pearson's correlation of x with y, which are as many: from -1 to 1, and 0 if one of them is constant.
HEADLIGHT_API double PearsonCorrelation(std::span<const double> x, std::span<const double> y);

// Spearman's: Pearson's of the ranks, where equal numbers share the mean of their ranks.
HEADLIGHT_API double SpearmanCorrelation(std::span<const double> x, std::span<const double> y);

}  // namespace headlight

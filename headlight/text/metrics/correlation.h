// Correlations of predicted with true numbers.
#pragma once

#include <span>

#include "headlight/base/export.h"

namespace headlight {

/// Pearson's correlation of x and y, which must have equal sizes: from -1 to 1, and 0 if one of them is constant.
HEADLIGHT_API double PearsonCorrelation(std::span<const double> x, std::span<const double> y);

/// Spearman's correlation: Pearson's correlation of the ranks; equal numbers get the mean of their ranks.
HEADLIGHT_API double SpearmanCorrelation(std::span<const double> x, std::span<const double> y);

}  // namespace headlight

// Correlations between predicted and true values.
#pragma once

#include <span>

#include "headlight/base/export.h"

namespace headlight {

/// Computes Pearson's correlation of x and y, from -1 to 1. The sizes of x and y must be equal. Returns 0 if x or y is
/// constant.
HEADLIGHT_API double PearsonCorrelation(std::span<const double> x, std::span<const double> y);

/// Computes Spearman's correlation, which is Pearson's correlation of the ranks. The rank of equal values is the mean
/// of their ranks.
HEADLIGHT_API double SpearmanCorrelation(std::span<const double> x, std::span<const double> y);

}  // namespace headlight

// The sum of a step's gradients over ranks: each owns a slice of the vector, receives the others' sums of it, adds them
// up in the fixed tree, and sends the result to all.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/train/gradients.h"

namespace headlight {

// The parts that each rank computes: rank r those from [r] to before [r + 1]. None has more than ceil(parts / ranks),
// and within that they begin where the tree has its largest sums, so that little is sent.
HEADLIGHT_API std::vector<std::int64_t> DealParts(std::int64_t parts, int ranks);

// The slices of a vector of so many numbers: rank r owns those from [r] to before [r + 1].
HEADLIGHT_API std::vector<std::int64_t> SlicesOf(std::int64_t numbers, int ranks);

// Sets the own slice of `gradients` to the sum of all parts. `own` has the rank's parts of DealParts; where that are
// all parts, their sum is in `gradients`.
HEADLIGHT_API void SumOverRanks(Ranks& ranks, const GradientTree& own, std::int64_t parts, GradientType type,
                                const Tensor& gradients);

// Fills the others' slices of a vector, of which each rank has its own. bfloat16: the numbers are rounded to it
// already.
HEADLIGHT_API void GatherSlices(Ranks& ranks, const Tensor& vector, GradientType type = GradientType::float32);

}  // namespace headlight

// Superposition of points, and the distance that remains.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

// The rigid motion that brings `moving` closest to `fixed`, point by point in the least-squares sense, without a
// reflection (Kabsch, "A solution for the best rotation to relate two sets of vectors", 1976; by the quaternion of
// Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987). Where several are best (fewer
// than three points, or points on a line), one of them. Throws Error for no points, or of different numbers.
HEADLIGHT_API RigidFrame Superpose(std::span<const Vector3> moving, std::span<const Vector3> fixed);

// The root of the mean squared distance, in angstrom, as the points stand.
HEADLIGHT_API double RootMeanSquare(std::span<const Vector3> a, std::span<const Vector3> b);

}  // namespace headlight

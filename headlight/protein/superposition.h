// Computes the optimal superposition of points, and the RMSD.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

/// Returns the rigid motion without reflection that minimizes the squared distances between `moving` and the
/// corresponding points of `fixed` (Kabsch, "A solution for the best rotation to relate two sets of vectors", 1976).
/// Uses the quaternion method of Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987. For
/// fewer than three points or collinear points, the minimum is not unique and one of the solutions is returned. Throws
/// Error if there are no points, or if the numbers of points differ.
HEADLIGHT_API RigidFrame Superpose(std::span<const Vector3> moving, std::span<const Vector3> fixed);

/// Returns the RMSD in angstrom, without superposition.
HEADLIGHT_API double RootMeanSquare(std::span<const Vector3> a, std::span<const Vector3> b);

}  // namespace headlight

// Optimal superposition of points, and the RMSD.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

/// The rigid motion without reflection that minimizes the squared distances of `moving` to the corresponding points of
/// `fixed` (Kabsch, "A solution for the best rotation to relate two sets of vectors", 1976; with the quaternion of
/// Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987). If there are several (fewer than
/// three points, or collinear points), one of them. Throws Error for no points, or different numbers of points.
HEADLIGHT_API RigidFrame Superpose(std::span<const Vector3> moving, std::span<const Vector3> fixed);

/// The RMSD in angstrom, without superposition.
HEADLIGHT_API double RootMeanSquare(std::span<const Vector3> a, std::span<const Vector3> b);

}  // namespace headlight

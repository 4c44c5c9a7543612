// Defines points in space, in angstrom, and rigid frames.
#pragma once

#include <array>
#include <cmath>

namespace headlight {

struct Vector3 {
  double x = 0, y = 0, z = 0;
  bool operator==(const Vector3&) const = default;
};

inline Vector3 operator+(const Vector3& a, const Vector3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector3 operator-(const Vector3& a, const Vector3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector3 operator*(double factor, const Vector3& a) { return {factor * a.x, factor * a.y, factor * a.z}; }
inline double Dot(const Vector3& a, const Vector3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vector3 Cross(const Vector3& a, const Vector3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double Norm(const Vector3& a) { return std::sqrt(Dot(a, a)); }
inline double Distance(const Vector3& a, const Vector3& b) { return Norm(a - b); }
inline Vector3 Unit(const Vector3& a) { return (1 / Norm(a)) * a; }

/// A rigid transform x -> rotation x + origin. The columns of the rotation are the frame's axes.
struct RigidFrame {
  std::array<Vector3, 3> rows = {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}};  ///< the rows of the rotation
  Vector3 origin;

  Vector3 operator()(const Vector3& point) const {
    return Vector3{Dot(rows[0], point), Dot(rows[1], point), Dot(rows[2], point)} + origin;
  }
};

/// Returns the frame at `origin` whose x axis points along `x`, with `near_y` in the xy plane at positive y. Uses
/// Gram-Schmidt orthogonalization, as in algorithm 21 of Jumper et al., "Highly accurate protein structure prediction
/// with AlphaFold", 2021, supplement. `x` and `near_y` must be neither zero nor parallel.
inline RigidFrame FrameOf(const Vector3& x, const Vector3& near_y, const Vector3& origin) {
  const Vector3 ex = Unit(x);
  const Vector3 ey = Unit(near_y - Dot(near_y, ex) * ex);
  const Vector3 ez = Cross(ex, ey);
  return {{Vector3{ex.x, ey.x, ez.x}, Vector3{ex.y, ey.y, ez.y}, Vector3{ex.z, ey.z, ez.z}}, origin};
}

/// Returns the dihedral angle in (-pi, pi] between the planes of a, b, c and b, c, d around the axis from b to c. The
/// sign follows IUPAC's convention.
inline double Dihedral(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d) {
  const Vector3 axis = Unit(c - b);
  const Vector3 first = Cross(a - b, axis), second = Cross(axis, d - c);
  // The angle between the normals of the two planes, signed along the axis.
  return std::atan2(Dot(axis, Cross(second, first)), -Dot(first, second));
}

}  // namespace headlight

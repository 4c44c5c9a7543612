// Points of space in angstrom, and rigid frames.
#pragma once

#include <array>
#include <cmath>

namespace headlight {

struct Point {
  double x = 0, y = 0, z = 0;
  bool operator==(const Point&) const = default;
};

inline Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator*(double factor, const Point& a) { return {factor * a.x, factor * a.y, factor * a.z}; }
inline double Dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point Cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double Norm(const Point& a) { return std::sqrt(Dot(a, a)); }
inline double Distance(const Point& a, const Point& b) { return Norm(a - b); }
inline Point Unit(const Point& a) { return (1 / Norm(a)) * a; }

// x -> rotation x + origin. The columns of the rotation are the frame's axes, its origin is where it stands.
struct Frame {
  std::array<Point, 3> rows = {Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};  // of the rotation
  Point origin;

  Point operator()(const Point& point) const {
    return Point{Dot(rows[0], point), Dot(rows[1], point), Dot(rows[2], point)} + origin;
  }
};

// The frame at `origin` whose x axis points along `x` and whose xy plane holds `near_y`, on the side of positive y
// (Gram-Schmidt, as in algorithm 21 of Jumper et al., "Highly accurate protein structure prediction with AlphaFold",
// 2021, supplement). `x` and `near_y` must be neither zero nor parallel.
inline Frame FrameOf(const Point& x, const Point& near_y, const Point& origin) {
  const Point ex = Unit(x);
  const Point ey = Unit(near_y - Dot(near_y, ex) * ex);
  const Point ez = Cross(ex, ey);
  return {{Point{ex.x, ey.x, ez.x}, Point{ex.y, ey.y, ez.y}, Point{ex.z, ey.z, ez.z}}, origin};
}

// The angle in (-pi, pi] by which the plane of b, c, d is turned from that of a, b, c around the axis from b to c
// (IUPAC's sign).
inline double Dihedral(const Point& a, const Point& b, const Point& c, const Point& d) {
  const Point axis = Unit(c - b);
  const Point first = Cross(a - b, axis), second = Cross(axis, d - c);
  // The angle between the normals of the two planes, signed along the axis.
  return std::atan2(Dot(axis, Cross(second, first)), -Dot(first, second));
}

}  // namespace headlight

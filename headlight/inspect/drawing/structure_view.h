// How a structure lies on a page: turned so that it is broad.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/protein/vector3.h"

namespace headlight {

struct StructureView {
  Vector3 right, down, towards;      // unit vectors
  Vector3 centre;                    // of all points
  double nearest = 0, farthest = 0;  // depths of the points
  double scale = 1;                  // pixels per angstrom
  Point middle;                      // of the drawing, where `centre` stands
  double width = 0, height = 0;      // of the page

  Point At(const Vector3& point) const;
  double Depth(const Vector3& point) const { return Dot(point - centre, towards); }
  // 0 for what is nearest, 1 for what is farthest.
  double ShareOfDepth(double depth) const;
};

// The plane of the paper: the direction in which the points of `spread` vary the most is to the right, and the next one
// down. All points of `shown` have room, with `padding` angstrom around them, below a header of so many pixels. Throws
// Error for a coordinate that is not finite.
HEADLIGHT_API StructureView ViewOf(std::span<const Vector3> spread, std::span<const Vector3> shown, double padding,
                                   double header);

}  // namespace headlight

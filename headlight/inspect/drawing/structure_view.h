// Selects the view of a structure in which its drawing is widest.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/protein/vector3.h"

namespace headlight {

struct StructureView {
  Vector3 right, down, towards;      // unit vectors
  Vector3 center;                    // mean of all points
  double nearest = 0, farthest = 0;  // depths of the points
  double scale = 1;                  // pixels per angstrom
  Point middle;                      // the middle of the drawing, where `center` is drawn
  double width = 0, height = 0;      // size of the page

  Point At(const Vector3& point) const;
  double Depth(const Vector3& point) const { return Dot(point - center, towards); }
  /// Returns the relative depth of a point: 0 for the nearest point, 1 for the farthest point.
  double ShareOfDepth(double depth) const;
};

/// Returns the view in which the points of `spread` vary most horizontally, and second most vertically. All points of
/// `shown` are visible, with `padding` angstrom around them, below a header of this height in pixels. Throws Error for
/// a coordinate that is not finite.
HEADLIGHT_API StructureView ViewOf(std::span<const Vector3> spread, std::span<const Vector3> shown, double padding,
                                   double header);

}  // namespace headlight

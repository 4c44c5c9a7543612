#include "headlight/inspect/drawing/structure_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr double kDrawing = 640;  // length of the longer side

// Returns the unit vector perpendicular to `before` along which centered points vary most, by power iteration.
Vector3 WidestAxis(std::span<const Vector3> points, std::span<const Vector3> before) {
  const auto perpendicular = [&](Vector3 v) {
    for (const Vector3& axis : before) v = v - Dot(v, axis) * axis;
    return v;
  };
  Vector3 axis;
  for (const Vector3& start : {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}})
    if (const Vector3 v = perpendicular(start); Norm(v) > Norm(axis)) axis = v;
  axis = Unit(axis);
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    Vector3 next;
    for (const Vector3& point : points) next = next + Dot(point, axis) * point;
    next = perpendicular(next);
    if (!(Norm(next) > 1e-9)) break;
    axis = Unit(next);
  }
  return axis;
}

}  // namespace

Point StructureView::At(const Vector3& point) const {
  const Vector3 from_center = point - center;
  return {middle.x + scale * Dot(from_center, right), middle.y + scale * Dot(from_center, down)};
}

double StructureView::ShareOfDepth(double depth) const {
  return std::clamp((nearest - depth) / std::max(nearest - farthest, 1e-9), 0.0, 1.0);
}

StructureView ViewOf(std::span<const Vector3> spread, std::span<const Vector3> shown, double padding, double header) {
  StructureView view;
  for (const Vector3& point : shown) {
    Check(std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z),
          "the structure has a position that is not finite");
    view.center = view.center + (1 / static_cast<double>(shown.size())) * point;
  }
  std::vector<Vector3> centered;
  for (const Vector3& point : spread) centered.push_back(point - view.center);
  const std::array<Vector3, 1> right = {WidestAxis(centered, {})};
  view.right = right[0];
  view.down = WidestAxis(centered, right);
  view.towards = Cross(view.down, view.right);
  double across = 1, along = 1;  // distances of the points farthest from the center
  view.nearest = view.farthest = view.Depth(shown.front());
  for (const Vector3& point : shown) {
    across = std::max(across, std::abs(Dot(point - view.center, view.right)) + padding);
    along = std::max(along, std::abs(Dot(point - view.center, view.down)) + padding);
    view.nearest = std::max(view.nearest, view.Depth(point));
    view.farthest = std::min(view.farthest, view.Depth(point));
  }
  view.scale = kDrawing / 2 / std::max(across, along);
  view.width = 2 * kPageMargin + kDrawing;
  view.height = 2 * kPageMargin + header + 2 * along * view.scale;
  view.middle = {view.width / 2, kPageMargin + header + along * view.scale};
  return view;
}

}  // namespace headlight

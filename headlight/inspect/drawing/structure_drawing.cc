#include "headlight/inspect/drawing/structure_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kDrawing = 640, kHeader = 92;  // the longer side of the drawing; the room above it
constexpr double kFarthest = 5;                 // angstrom: of the colours, and between neighbours
constexpr Color kClose = {47, 99, 190}, kFar = {206, 88, 24};

Color Mixed(Color a, Color b, double share) {
  const auto mix = [share](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + share * (to - from)));
  };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

// The unit vector along which centred points spread the most, of those perpendicular to `before`: by power iteration.
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

// A piece of a chain between two neighbours.
struct Piece {
  std::array<Point, 2> ends;
  double depth = 0;
  Color color;
};

}  // namespace

Point StructureView::At(const Vector3& point) const {
  const Vector3 from_centre = point - centre;
  return {middle.x + scale * Dot(from_centre, right), middle.y + scale * Dot(from_centre, down)};
}

StructureView ViewOf(const SuperposedStructures& structures) {
  StructureView view;
  std::vector<Vector3> all(structures.reference.begin(), structures.reference.end());
  all.insert(all.end(), structures.model.begin(), structures.model.end());
  for (const Vector3& point : all) view.centre = view.centre + (1 / static_cast<double>(all.size())) * point;
  std::vector<Vector3> centred;
  for (const Vector3& point : structures.reference) centred.push_back(point - view.centre);
  const std::array<Vector3, 1> right = {WidestAxis(centred, {})};
  view.right = right[0];
  view.down = WidestAxis(centred, right);
  view.towards = Cross(view.down, view.right);
  double across = 1, along = 1;  // the farthest from the centre
  for (const Vector3& point : all) {
    across = std::max(across, std::abs(Dot(point - view.centre, view.right)));
    along = std::max(along, std::abs(Dot(point - view.centre, view.down)));
  }
  view.scale = kDrawing / 2 / std::max(across, along);
  view.width = 2 * kPageMargin + kDrawing;
  view.height = 2 * kPageMargin + kHeader + 2 * along * view.scale;
  view.middle = {view.width / 2, kPageMargin + kHeader + along * view.scale};
  return view;
}

Color ColorOfDistance(double distance) { return Mixed(kClose, kFar, std::clamp(distance / kFarthest, 0.0, 1.0)); }

void DrawSuperposed(const SuperposedStructures& structures, const std::string& path) {
  CheckPicturePath(path);
  const std::span<const Vector3> model = structures.model, reference = structures.reference;
  const std::string title = TokenLabel(structures.title);
  Check(model.size() == reference.size() && model.size() >= 2, "superposed structures of {} and {} residues",
        model.size(), reference.size());
  for (const std::span<const Vector3>& chain : {model, reference})
    for (const Vector3& point : chain)
      Check(std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z),
            "superposed structures: a position that is not finite");
  const StructureView view = ViewOf(structures);
  double nearest = view.Depth(model[0]), farthest = nearest;
  for (const std::span<const Vector3>& chain : {model, reference})
    for (const Vector3& point : chain) {
      nearest = std::max(nearest, view.Depth(point));
      farthest = std::min(farthest, view.Depth(point));
    }
  std::vector<Piece> pieces;
  const auto add = [&](std::span<const Vector3> chain, const auto& color_of) {
    constexpr double kPale = 0.6;  // of the farthest
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      if (Distance(chain[i], chain[i + 1]) > kFarthest) continue;
      const Vector3 half = 0.5 * (chain[i] + chain[i + 1]);
      const double depth = view.Depth(half);
      const double pale = kPale * (nearest - depth) / std::max(nearest - farthest, 1e-9);
      const std::array<Vector3, 3> points = {chain[i], half, chain[i + 1]};
      for (std::size_t side = 0; side < 2; ++side)
        pieces.push_back(
            {{view.At(points[side]), view.At(points[side + 1])}, depth, Mixed(color_of(i + side), kPaper, pale)});
    }
  };
  add(reference, [](std::size_t) { return kMutedInk; });
  add(model, [&](std::size_t i) { return ColorOfDistance(Distance(model[i], reference[i])); });
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.depth < b.depth; });

  const auto draw = [&](Canvas& canvas) {
    const double room = view.width - 2 * kPageMargin;
    canvas.Text({kPageMargin, kPageMargin + 8}, title, {.size = 17, .bold = true}, Align::left, room);
    canvas.Text({kPageMargin, kPageMargin + 34}, structures.note, {.size = 12, .color = kMutedInk}, Align::left, room);
    canvas.Text({kPageMargin, kPageMargin + 54},
                "grey: reference; model by distance of CA:", {.size = 12, .color = kMutedInk}, Align::left, room);
    constexpr double kSwatch = 44, kLegend = 270;
    for (int distance = 0; distance <= 5; ++distance) {
      const double x = kPageMargin + kLegend + kSwatch * distance;
      canvas.Fill({x, kPageMargin + 48, 14, 12}, ColorOfDistance(distance));
      canvas.Text({x + 18, kPageMargin + 54}, distance == 5 ? "5 A or more" : fmt::format("{}", distance),
                  {.size = 12, .color = kMutedInk}, Align::left);
    }
    for (const Piece& piece : pieces) {
      canvas.Line(piece.ends, kPaper, 5);  // sets it off from what lies behind
      canvas.Line(piece.ends, piece.color, 2.5);
    }
  };
  WritePicture(path, title, {{title, view.width, view.height, draw}});
}

}  // namespace headlight

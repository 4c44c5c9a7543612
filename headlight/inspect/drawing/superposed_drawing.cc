#include "headlight/inspect/drawing/superposed_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kSuperposedHeader = 92;
constexpr double kFarthest = 5;  // angstrom: the end of the color scale, and the maximum distance between neighbors
constexpr Color kClose = {47, 99, 190}, kFar = {206, 88, 24};

// A piece of a chain between two neighbors.
struct Stroke {
  std::array<Point, 2> ends;
  double depth = 0;
  Color color;
};

}  // namespace

StructureView ViewOf(const SuperposedStructures& structures) {
  std::vector<Vector3> all(structures.reference.begin(), structures.reference.end());
  all.insert(all.end(), structures.model.begin(), structures.model.end());
  return ViewOf(structures.reference, all, /*padding=*/0, kSuperposedHeader);
}

Color ColorOfDistance(double distance) { return Mix(kClose, kFar, std::clamp(distance / kFarthest, 0.0, 1.0)); }

void DrawSuperposed(const SuperposedStructures& structures, const std::string& path) {
  CheckImagePath(path);
  const std::span<const Vector3> model = structures.model, reference = structures.reference;
  const std::string title = TokenLabel(structures.title);
  Check(model.size() == reference.size() && model.size() >= 2, "superposed structures have {} and {} residues",
        model.size(), reference.size());
  const StructureView view = ViewOf(structures);
  std::vector<Stroke> pieces;
  const auto add = [&](std::span<const Vector3> chain, const auto& color_of) {
    constexpr double kPale = 0.6;  // the weight of the background in the colors at the greatest depth
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      if (Distance(chain[i], chain[i + 1]) > kFarthest) continue;
      const Vector3 half = 0.5 * (chain[i] + chain[i + 1]);
      const double depth = view.Depth(half);
      const double pale = kPale * view.ShareOfDepth(depth);
      const std::array<Vector3, 3> points = {chain[i], half, chain[i + 1]};
      for (std::size_t side = 0; side < 2; ++side)
        pieces.push_back(
            {{view.At(points[side]), view.At(points[side + 1])}, depth, Mix(color_of(i + side), kPaper, pale)});
    }
  };
  add(reference, [](std::size_t) { return kMutedInk; });
  add(model, [&](std::size_t i) { return ColorOfDistance(Distance(model[i], reference[i])); });
  std::stable_sort(pieces.begin(), pieces.end(), [](const Stroke& a, const Stroke& b) { return a.depth < b.depth; });

  const auto draw = [&](Canvas& canvas) {
    const double room = view.width - 2 * kPageMargin;
    canvas.Text({kPageMargin, kPageMargin + 8}, title, {.size = 17, .bold = true}, Align::left, room);
    canvas.Text({kPageMargin, kPageMargin + 34}, structures.note, {.size = 12, .color = kMutedInk}, Align::left, room);
    canvas.Text({kPageMargin, kPageMargin + 54},
                "gray: reference; model by distance of CA:", {.size = 12, .color = kMutedInk}, Align::left, room);
    constexpr double kSwatch = 44, kLegend = 270;
    for (int distance = 0; distance <= 5; ++distance) {
      const double x = kPageMargin + kLegend + kSwatch * distance;
      canvas.Fill({x, kPageMargin + 48, 14, 12}, ColorOfDistance(distance));
      canvas.Text({x + 18, kPageMargin + 54}, distance == 5 ? "5 A or more" : fmt::format("{}", distance),
                  {.size = 12, .color = kMutedInk}, Align::left);
    }
    for (const Stroke& piece : pieces) {
      canvas.Line(piece.ends, kPaper, 5);  // separates the line from lines behind it
      canvas.Line(piece.ends, piece.color, 2.5);
    }
  };
  WriteImage(path, title, {{title, view.width, view.height, draw}});
}

}  // namespace headlight

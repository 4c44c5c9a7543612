#include "headlight/inspect/drawing/ribbon_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/inspect/drawing/confidence_drawing.h"
#include "headlight/inspect/drawing/structure_view.h"
#include "headlight/inspect/ribbon.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kRibbonHeader = 62, kRibbonLegend = 36;
constexpr int kMostLines = 24;
constexpr TextStyle kCaption{.size = 12, .color = kMutedInk};
constexpr Color kLook = {201, 98, 47};
constexpr std::size_t kAlpha = 1;  // index among BackboneAtoms

// Returns a color between blue (0) and red (1), through green.
Color AlongChain(double share) {
  constexpr std::array<Color, 4> colors = {Color{49, 92, 220}, {58, 170, 150}, {230, 190, 60}, {214, 66, 56}};
  const double at = share * (colors.size() - 1);
  const auto first = std::min(colors.size() - 2, static_cast<std::size_t>(at));
  return Mix(colors[first], colors[first + 1], at - static_cast<double>(first));
}

struct Piece {
  std::array<Point, 4> corners;
  double depth = 0;
  Color color;
};

std::vector<Piece> PiecesOf(const StructureRecord& record, const Ribbon& ribbon, const std::vector<int>& breaks,
                            const StructureView& view) {
  const std::size_t residues = record.chain.residues.size();
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i + 1 < residues; ++i) {
    if (std::ranges::find(breaks, static_cast<int>(i)) != breaks.end()) continue;
    const std::span<const RibbonEdge> edges = ribbon.After(i);
    for (std::size_t step = 0; step + 1 < edges.size(); ++step) {
      const std::array<Vector3, 4> corners = {edges[step].left, edges[step].right, edges[step + 1].right,
                                              edges[step + 1].left};
      const std::size_t residue = 2 * step < edges.size() - 1 ? i : i + 1;
      const Color own = record.predicted ? ColorOfLddt(record.chain.residues[residue].b_factors[kAlpha])
                                         : AlongChain(static_cast<double>(residue) / static_cast<double>(residues - 1));
      Piece piece;
      for (std::size_t corner = 0; corner < 4; ++corner) {
        piece.corners[corner] = view.At(corners[corner]);
        piece.depth += view.Depth(corners[corner]) / 4;
      }
      // Light comes from the viewer, and distant parts fade to the background.
      const Vector3 normal = Cross(corners[1] - corners[0], corners[3] - corners[0]);
      const double facing = Norm(normal) > 0 ? std::abs(Dot(view.towards, normal)) / Norm(normal) : 1;
      piece.color = Mix(Mix({0, 0, 0}, own, 0.62 + 0.38 * facing), kPaper, 0.45 * view.ShareOfDepth(piece.depth));
      pieces.push_back(piece);
    }
  }
  std::ranges::stable_sort(pieces, {}, &Piece::depth);
  return pieces;
}

void DrawLook(Canvas& canvas, const StructureRecord& record, const RibbonLook& look,
              const std::vector<BackboneAtoms>& backbone, const StructureView& view) {
  const ResidueAttention& map = record.attention[static_cast<std::size_t>(look.attention)];
  const std::size_t residues = backbone.size(), from = static_cast<std::size_t>(look.residue);
  std::vector<std::pair<float, std::size_t>> weights;
  for (std::size_t to = 0; to < residues; ++to) {
    float weight = 0;
    for (int head = 0; head < map.heads; ++head)
      if (!look.head || *look.head == head)
        weight += map.weights[(static_cast<std::size_t>(head) * residues + from) * residues + to];
    if (!look.head) weight /= static_cast<float>(map.heads);
    if (to != from) weights.emplace_back(weight, to);
  }
  std::ranges::sort(weights, std::greater());
  weights.resize(std::min(weights.size(), static_cast<std::size_t>(kMostLines)));
  for (const auto& [weight, to] : weights) {
    if (weight < 0.001f) continue;
    const std::array<Point, 2> line = {view.At(backbone[from][kAlpha]), view.At(backbone[to][kAlpha])};
    canvas.Line(line, kLook, 0.6 + 7 * std::sqrt(static_cast<double>(weight)));
  }
  canvas.Dot(view.At(backbone[from][kAlpha]), 5, kLook);
}

}  // namespace

void DrawRibbon(const StructureRecord& record, const std::optional<RibbonLook>& look, const std::string& path) {
  CheckImagePath(path);
  CheckStructure(record);
  const std::vector<BackboneAtoms> backbone = BackboneOf(record.chain);
  if (look) {
    Check(look->residue >= 0 && look->residue < std::ssize(backbone), "residue {} is out of range for {}",
          look->residue + 1, backbone.size());
    Check(look->attention >= 0 && look->attention < std::ssize(record.attention), "attention {} is out of range for {}",
          look->attention + 1, record.attention.size());
    const int heads = record.attention[static_cast<std::size_t>(look->attention)].heads;
    Check(!look->head || (*look->head >= 0 && *look->head < heads), "head {} is out of range for {}",
          look->head.value_or(0) + 1, heads);
  }
  const std::vector<int> breaks = BreaksOf(record.chain);
  const Ribbon ribbon = RibbonOf(backbone, SecondaryStructureOf(backbone, breaks), breaks, 8);
  std::vector<Vector3> alphas;
  for (const BackboneAtoms& atoms : backbone) alphas.push_back(atoms[kAlpha]);
  const StructureView view = ViewOf(alphas, alphas, /*padding=*/3, kRibbonHeader);
  const double room = view.width - 2 * kPageMargin;
  const std::vector<Piece> pieces = PiecesOf(record, ribbon, breaks, view);

  const std::string title = record.title.empty() ? "Structure" : TokenLabel(record.title);
  const auto draw = [&](Canvas& canvas) {
    canvas.Text({kPageMargin, kPageMargin + 8}, title, {.size = 17, .bold = true}, Align::left, room);
    std::string caption = fmt::format("{} residues", backbone.size());
    if (look) {
      const ResidueAttention& map = record.attention[static_cast<std::size_t>(look->attention)];
      const Residue& residue = record.chain.residues[static_cast<std::size_t>(look->residue)];
      caption += fmt::format("; {} of {} {}, layer {}, {}", map.title, residue.name, residue.number, map.layer + 1,
                             look->head ? fmt::format("head {}", *look->head + 1) : "mean of all heads");
    }
    canvas.Text({kPageMargin, kPageMargin + 34}, caption, kCaption, Align::left, room);
    for (const Piece& piece : pieces) canvas.Polygon(piece.corners, piece.color, std::max(0.8, 0.3 * view.scale));
    if (look) DrawLook(canvas, record, *look, backbone, view);
    const double legend = view.height - kPageMargin + kRibbonLegend / 2;
    if (!record.predicted)
      return canvas.Text({kPageMargin, legend}, "blue: first residue; red: last residue", kCaption, Align::left);
    double x = kPageMargin;
    for (const auto& [lddt, name] :
         {std::pair{95, "pLDDT above 90"}, {80, "70 to 90"}, {60, "50 to 70"}, {30, "below 50"}}) {
      canvas.Fill(Rectangle{x, legend - 5, 11, 11}, ColorOfLddt(lddt));
      canvas.Text({x + 17, legend}, name, kCaption, Align::left);
      x += 17 + TextWidth(name, kCaption) + 18;
    }
  };
  WriteImage(path, title, {{title, view.width, view.height + kRibbonLegend, draw}});
}

}  // namespace headlight

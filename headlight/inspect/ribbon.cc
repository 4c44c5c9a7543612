#include "headlight/inspect/ribbon.h"

#include <algorithm>
#include <cstddef>

namespace headlight {
namespace {

// Half widths in angstrom.
constexpr double kHelix = 1.25, kStrand = 1.05, kArrow = 1.9, kCord = 0.22;

// The ribbon at a residue.
struct Station {
  Vector3 middle, side;          // side: the direction of the width
  double before = 0, after = 0;  // half widths
};

Vector3 UnitOr(const Vector3& a, const Vector3& otherwise) { return Norm(a) > 1e-9 ? Unit(a) : otherwise; }

// Evaluates the spline from b to c.
Vector3 Spline(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d, double t) {
  const Vector3 first = c - a, second = 2 * a - 5 * b + 4 * c - d, third = 3 * (b - c) + d - a;
  return b + 0.5 * t * (first + t * (second + t * third));
}

double HalfWidth(SecondaryStructure kind) {
  return kind == SecondaryStructure::helix ? kHelix : kind == SecondaryStructure::strand ? kStrand : kCord;
}

}  // namespace

Ribbon RibbonOf(std::span<const BackboneAtoms> backbone, std::span<const SecondaryStructure> kinds,
                std::span<const int> breaks, int steps) {
  constexpr std::size_t ca = 1, c = 2, o = 3;
  const std::size_t residues = backbone.size();
  std::vector<bool> broken(residues);  // [residues]: true if the chain is broken after the residue
  for (const int residue : breaks) broken[static_cast<std::size_t>(residue)] = true;
  const auto previous = [&](std::size_t i) { return i > 0 && !broken[i - 1] ? i - 1 : i; };
  const auto next = [&](std::size_t i) { return i + 1 < residues && !broken[i] ? i + 1 : i; };

  std::vector<Station> stations;
  for (std::size_t i = 0; i < residues; ++i) {
    const Vector3 &first = backbone[previous(i)][ca], &last = backbone[next(i)][ca];
    const Vector3 tangent = UnitOr(last - first, {1, 0, 0}), bond = backbone[i][o] - backbone[i][c];
    Station station;
    const bool strand = kinds[i] == SecondaryStructure::strand;
    station.middle = strand ? 0.25 * (first + 2 * backbone[i][ca] + last) : backbone[i][ca];
    station.side = UnitOr(bond - Dot(bond, tangent) * tangent, {0, 1, 0});
    if (previous(i) < i && Dot(station.side, stations.back().side) < 0) station.side = -1 * station.side;
    station.before = station.after = HalfWidth(kinds[i]);
    if (strand && kinds[next(i)] != SecondaryStructure::strand) {  // the end of a strand is an arrowhead
      station.before = kArrow;
      station.after = kCord;
    }
    stations.push_back(station);
  }

  Ribbon ribbon{steps, {}};
  for (std::size_t i = 0; i + 1 < residues; ++i) {
    const Station &from = stations[i], &to = stations[i + 1];
    const bool arrow = from.before != from.after;
    for (int step = 0; step <= steps; ++step) {
      const double t = broken[i] ? 0 : static_cast<double>(step) / steps;
      const Vector3 middle =
          Spline(stations[previous(i)].middle, from.middle, to.middle, stations[next(i + 1)].middle, t);
      const Vector3 side = UnitOr(from.side + t * (to.side - from.side), from.side);
      const double width = broken[i] ? 0 : from.before + t * ((arrow ? from.after : to.before) - from.before);
      ribbon.edges.push_back({middle - width * side, middle + width * side});
    }
  }
  return ribbon;
}

}  // namespace headlight

// A ribbon representation of a backbone: flat helices, arrows for strands, and a cord between them.
#pragma once

#include <span>
#include <vector>

#include "headlight/protein/secondary_structure.h"
#include "headlight/protein/vector3.h"

namespace headlight {

/// A line across the ribbon.
struct RibbonEdge {
  Vector3 left, right;
};

struct Ribbon {
  int steps = 0;  // segments between two residues
  /// For each residue except the last, the steps + 1 edges to the next residue. If the chain is broken after a residue,
  /// its edges are all at one point.
  std::vector<RibbonEdge> edges;

  std::span<const RibbonEdge> After(std::size_t residue) const {
    const auto count = static_cast<std::size_t>(steps) + 1;
    return std::span(edges).subspan(residue * count, count);
  }
};

/// Returns a ribbon through the CA atoms, by Catmull-Rom splines, flat in the planes of the peptides (Carson and Bugg,
/// "Algorithm for ribbon models of proteins", 1986). In strands the ribbon passes through the means of three CA atoms,
/// since residues alternate around the axis. `kinds` has one element per residue.
Ribbon RibbonOf(std::span<const BackboneAtoms> backbone, std::span<const SecondaryStructure> kinds,
                std::span<const int> breaks, int steps);

}  // namespace headlight

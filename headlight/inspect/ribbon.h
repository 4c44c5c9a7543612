// A backbone as a ribbon: flat helices, arrows for strands, and a cord between them.
#pragma once

#include <span>
#include <vector>

#include "headlight/protein/secondary_structure.h"
#include "headlight/protein/vector3.h"

namespace headlight {

// A line across the ribbon.
struct RibbonEdge {
  Vector3 left, right;
};

struct Ribbon {
  int steps = 0;  // pieces between two residues
  // Of each residue but the last, from it to the next: steps + 1 edges. Where the chain is broken after it, all of
  // them at one point.
  std::vector<RibbonEdge> edges;

  std::span<const RibbonEdge> After(std::size_t residue) const {
    const auto count = static_cast<std::size_t>(steps) + 1;
    return std::span(edges).subspan(residue * count, count);
  }
};

// Through the CA atoms (in a strand through the means of three, since its residues lie on either side of its middle),
// by Catmull and Rom's splines; flat in the planes of the peptides (Carson and Bugg, "Algorithm for ribbon models of
// proteins", 1986). `kinds` of each residue.
Ribbon RibbonOf(std::span<const BackboneAtoms> backbone, std::span<const SecondaryStructure> kinds,
                std::span<const int> breaks, int steps);

}  // namespace headlight

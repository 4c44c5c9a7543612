// Draws a protein chain as a ribbon.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/structure_record.h"

namespace headlight {

/// A residue whose attention is drawn.
struct RibbonLook {
  int residue = 0;               // from 0
  int attention = 0;             // index in the record
  std::optional<int> head = {};  // from 0; the mean of all heads unless given
};

/// Draws the ribbon of the chain to `path` (.png, .svg or .pdf), viewed from the direction in which the chain is
/// widest. A prediction is colored by pLDDT as in AlphaFold's database, other structures from blue at the N terminus
/// to red at the C terminus. With a look, lines show the attended residues. Wider lines show larger weights. Throws the
/// same errors as CheckStructure. Throws Error for a residue, an attention or a head out of range, another extension, a
/// PNG that would be too large, and a file that cannot be written.
HEADLIGHT_API void DrawRibbon(const StructureRecord& record, const std::optional<RibbonLook>& look,
                              const std::string& path);

}  // namespace headlight

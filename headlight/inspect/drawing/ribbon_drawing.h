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

/// Draws the chain's ribbon to `path` (.png, .svg or .pdf), viewed from the direction in which it is broadest. A
/// prediction has the colours of its pLDDT as in AlphaFold's database, another structure those from blue at the N
/// terminus to red at the C terminus. With a look, lines lead to the residues that are attended to, wider for greater
/// weights. Throws Error for a record that CheckStructure refuses, for a residue, an attention or a head out of range,
/// for another extension, a PNG that would be too large, and a file that cannot be written.
HEADLIGHT_API void DrawRibbon(const StructureRecord& record, const std::optional<RibbonLook>& look,
                              const std::string& path);

}  // namespace headlight

// A folded chain as an image.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/structure_record.h"

namespace headlight {

// Where a residue looks.
struct RibbonLook {
  int residue = 0;               // from 0
  int attention = 0;             // among the record's
  std::optional<int> head = {};  // from 0; the mean of all unless given
};

// Draws the chain's ribbon to `path` (.png, .svg or .pdf), seen from where it is broadest: a prediction by its pLDDT,
// in the colours of AlphaFold's database, and another structure from blue at the N terminus to red at the C terminus.
// With a look, lines to the residues that are looked at, the broader the greater the weight. Throws Error for a record
// that CheckStructure refuses, for a residue, an attention or a head out of range, for another ending, a PNG that
// would be too large and a file that cannot be written.
HEADLIGHT_API void DrawRibbon(const StructureRecord& record, const std::optional<RibbonLook>& look,
                              const std::string& path);

}  // namespace headlight

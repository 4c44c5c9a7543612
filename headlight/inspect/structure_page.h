// A folded chain as a page for the browser.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/structure_record.h"

namespace headlight {

// One HTML file that shows the chain in space (ribbon or atoms; turned by mouse, touch and keys), beside it the
// matrices of its pairs of residues, and where each head of an attention looks from a residue; a slider goes through
// the moments of folding. It is self-contained. A weight takes two bytes, and a run of weights near 0 takes two. Throws
// Error for a record that CheckStructure refuses.
HEADLIGHT_API std::string StructurePage(const StructureRecord& record);

}  // namespace headlight

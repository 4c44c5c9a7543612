// A protein chain as an HTML page.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/structure_record.h"

namespace headlight {

/// A self-contained HTML file that shows the chain in 3D (as ribbon or atoms; rotated by mouse, touch and keys),
/// matrices over its pairs of residues, and the attention of a residue for each head. A slider selects snapshots of the
/// prediction. A weight takes two bytes, and so does a run of weights near 0. Throws Error for a record that
/// CheckStructure refuses.
HEADLIGHT_API std::string StructurePage(const StructureRecord& record);

}  // namespace headlight

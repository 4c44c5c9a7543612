// Writes a protein chain as an HTML page.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/structure_record.h"

namespace headlight {

/// Returns a self-contained HTML file. It shows the chain in 3D as a ribbon or as atoms, matrices over pairs of
/// residues, and the attention of a residue for each head. A slider selects snapshots of the prediction. A weight takes
/// two bytes, and so does a run of weights near 0. Throws the same errors as CheckStructure.
HEADLIGHT_API std::string StructurePage(const StructureRecord& record);

}  // namespace headlight

// Draws two superposed structures of one protein.
#pragma once

#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/color_ramp.h"
#include "headlight/inspect/drawing/structure_view.h"
#include "headlight/protein/vector3.h"

namespace headlight {

struct SuperposedStructures {
  std::string title, note;                    // lines above the drawing; a note may be empty
  std::span<const Vector3> model, reference;  // [residues] superposed CA positions in angstrom
};

HEADLIGHT_API StructureView ViewOf(const SuperposedStructures& structures);

/// The colour of a model's residue at this distance in angstrom from the reference: from blue for 0 to orange for 5 and
/// more.
HEADLIGHT_API Color ColorOfDistance(double distance);

/// Draws both chains as lines through their CA atoms to `path` (.png, .svg or .pdf). Nearer parts cover more distant
/// ones, which are paler. The reference is grey, and the model has the colour of each residue's distance. A line ends
/// if the next CA is more than 5 A away. Throws Error for fewer than 2 residues, different numbers of residues,
/// positions that are not finite, and the errors of WriteImage.
HEADLIGHT_API void DrawSuperposed(const SuperposedStructures& structures, const std::string& path);

}  // namespace headlight

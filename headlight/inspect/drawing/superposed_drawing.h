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

/// Returns the color of a model's residue at this distance from the reference, in angstrom: from blue for 0 to orange
/// for 5 and more.
HEADLIGHT_API Color ColorOfDistance(double distance);

/// Draws both chains as lines through their CA atoms to `path` (.png, .svg or .pdf). Near parts cover distant parts,
/// which are paler. The reference is gray, and each residue of the model has the color of its distance. A line is
/// interrupted if the next CA is more than 5 A away. Throws Error for fewer than 2 residues, different numbers of
/// residues, and positions that are not finite. Throws the same errors as WriteImage.
HEADLIGHT_API void DrawSuperposed(const SuperposedStructures& structures, const std::string& path);

}  // namespace headlight

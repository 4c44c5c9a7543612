// Two structures of one protein as an image, one on the other.
#pragma once

#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/color_ramp.h"
#include "headlight/inspect/drawing/structure_view.h"
#include "headlight/protein/vector3.h"

namespace headlight {

struct SuperposedStructures {
  std::string title, note;                    // lines above the image; a note may be empty
  std::span<const Vector3> model, reference;  // [residues] CA positions in angstrom, as they stand in the image
};

HEADLIGHT_API StructureView ViewOf(const SuperposedStructures& structures);

// The colour of a model's residue that stands so many angstrom from the reference's: blue for none to orange for 5 and
// more.
HEADLIGHT_API Color ColorOfDistance(double distance);

// Draws both chains as lines through their CA atoms to `path` (.png, .svg or .pdf), what is nearer over what is farther
// and less pale: the reference grey, the model in the colour of each residue's distance. A line ends where the next CA
// lies more than 5 A away. Throws Error for fewer than 2 residues or different numbers of them, positions that are not
// finite, and as WriteImage does.
HEADLIGHT_API void DrawSuperposed(const SuperposedStructures& structures, const std::string& path);

}  // namespace headlight

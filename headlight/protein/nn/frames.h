// Computes the frames of residues and the positions of atoms in them (Jumper et al., "Highly accurate protein structure
// prediction with AlphaFold", 2021, supplement, section 1.8). Frames [residues, 7] have a unit quaternion w, x, y, z
// and a translation. Frames [residues, 12] have a row-major rotation matrix and a translation.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Returns identity frames [residues, 7].
HEADLIGHT_API Tensor IdentityFrames(std::int64_t residues, DType dtype);

/// Converts frames [residues, 7] to matrices [residues, 12].
HEADLIGHT_API Tensor FrameMatrices(const Tensor& frames);

/// Implements algorithm 23. Rotates each frame by the normalized quaternion (1, b, c, d), and translates it in the
/// frame's coordinates. `updates` [residues, 6] has b, c, d and a translation.
HEADLIGHT_API Tensor UpdateFrames(const Tensor& frames, const Tensor& updates);

/// Returns the frames [residues, 7] unchanged, but stops the gradient through the rotations.
HEADLIGHT_API Tensor StopRotationGradient(const Tensor& frames);

/// Returns the frames with their translations multiplied by `factor`.
HEADLIGHT_API Tensor ScaleTranslations(const Tensor& frames, double factor);

struct ResidueGeometry {
  Tensor group_frames;  // [residues, 8 * 12] the frame of each rigid group
  Tensor atoms;  // [residues, 14 * 3] the coordinates of each atom (atom14); 0 for atoms that the type does not have
};

/// Implements algorithm 24. Rotates the rigid groups by the torsions, and sets the atoms to their ideal positions in
/// the groups. `torsions` [residues, 14] has the sine and cosine of omega, phi, psi and chi1 to chi4. `backbones`
/// [residues, 12] is in angstrom. Types are numbered as in protein/residues.h. Throws Error for an invalid type or
/// mismatched shapes.
HEADLIGHT_API ResidueGeometry PlaceAtoms(const Tensor& backbones, const Tensor& torsions,
                                         std::span<const std::int32_t> types);

}  // namespace headlight

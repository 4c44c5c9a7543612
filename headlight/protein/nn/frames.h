// The frames of residues, and the positions of atoms in them (Jumper et al., "Highly accurate protein structure
// prediction with AlphaFold", 2021, supplement, section 1.8). A frame is a unit quaternion w, x, y, z and a
// translation, [residues, 7], or a row-major rotation matrix and a translation, [residues, 12].
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Identity frames [residues, 7].
HEADLIGHT_API Tensor IdentityFrames(std::int64_t residues, DType dtype);

/// Converts frames [residues, 7] to matrices [residues, 12].
HEADLIGHT_API Tensor FrameMatrices(const Tensor& frames);

/// Algorithm 23: rotates each frame by the quaternion (1, b, c, d), normalized, and translates it in its own
/// coordinates. `updates` [residues, 6] has b, c, d and a translation.
HEADLIGHT_API Tensor UpdateFrames(const Tensor& frames, const Tensor& updates);

/// The same frames [residues, 7], with the gradient through rotations stopped.
HEADLIGHT_API Tensor StopRotationGradient(const Tensor& frames);

/// The same frames with translations multiplied by `factor`.
HEADLIGHT_API Tensor ScaleTranslations(const Tensor& frames, double factor);

struct ResidueGeometry {
  Tensor group_frames;  // [residues, 8 * 12]: of each rigid group
  Tensor atoms;         // [residues, 14 * 3]: atom14, x, y and z of each; 0 for atoms that the type does not have
};

/// Algorithm 24: rotates the rigid groups by the torsions, and places the atoms at their ideal positions in them.
/// `torsions` [residues, 14] has sin and cos of omega, phi, psi and chi1 to chi4; `backbones` [residues, 12] is in
/// angstrom. Types are numbered as in protein/residues.h. Throws Error for an invalid type and for shapes that do not
/// fit.
HEADLIGHT_API ResidueGeometry PlaceAtoms(const Tensor& backbones, const Tensor& torsions,
                                         std::span<const std::int32_t> types);

}  // namespace headlight

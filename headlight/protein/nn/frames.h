// The frames of residues, and where atoms stand in them (Jumper et al., "Highly accurate protein structure prediction
// with AlphaFold", 2021, supplement, section 1.8). A frame is a unit quaternion w, x, y, z and a translation,
// [residues, 7], or as a rotation matrix, row by row, and a translation, [residues, 12].
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Every frame is that of the axes: no rotation, no translation.
HEADLIGHT_API Tensor IdentityFrames(std::int64_t residues, DType dtype);

// [residues, 7] to [residues, 12].
HEADLIGHT_API Tensor FrameMatrices(const Tensor& frames);

// Algorithm 23: each frame turned by the quaternion (1, b, c, d), made a unit again, and moved within itself:
// updates [residues, 6] of b, c, d and a translation.
HEADLIGHT_API Tensor UpdateFrames(const Tensor& frames, const Tensor& updates);

// The same frames [residues, 7], whose rotations pass no gradient on.
HEADLIGHT_API Tensor StopRotationGradient(const Tensor& frames);

// The same with translations `factor` times as long.
HEADLIGHT_API Tensor ScaleTranslations(const Tensor& frames, double factor);

struct ResidueGeometry {
  Tensor group_frames;  // [residues, 8 * 12]: of each rigid group
  Tensor atoms;         // [residues, 14 * 3]: atom14, x, y and z of each; 0 where a type has no such atom
};

// Algorithm 24: the rigid groups turned by torsions, sin and cos of omega, phi, psi, chi1 to chi4, [residues, 14], from
// backbones [residues, 12] in angstrom, and the atoms in their ideal places in these. Types are numbered as in
// protein/residues.h. Throws Error for a type that there is not and where the shapes do not fit.
HEADLIGHT_API ResidueGeometry PlaceAtoms(const Tensor& backbones, const Tensor& torsions,
                                         std::span<const std::int32_t> types);

}  // namespace headlight

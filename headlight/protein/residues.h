// The amino acids: letters, atoms, torsion angles, rigid groups with ideal geometry, and ambiguous atom names. All is
// generated from one table, protein/residue_table.cc.
//
// Numbering. Residue types are numbered as in AlphaFold, by three-letter names: ARNDCQEGHILKMFPSTWYV, then X (20), an
// unknown residue, which has no atoms. The atoms of a residue have two numberings:
//   atom14  the atoms of its type: N, CA, C, O, then outward along the side chain; at most 14;
//   atom37  the names of all types together, so that a column is the same name in every residue.
//
// Rigid groups. Each residue has eight, each rotated by one torsion angle relative to the previous one: 0 the backbone
// (N, CA, C, CB), 1 omega and 2 phi (which only move hydrogens), 3 psi (O), 4 to 7 chi1 to chi4. The origin of a
// group's frame is the end of its axis. The x axis is along that axis, and the atom that defines the torsion is in the
// xy plane with y > 0. Torsions have IUPAC's sign. psi is defined by the next residue's N; the O that represents it is
// rotated by half a turn. (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, section 1.8.4 and table 2.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

inline constexpr int kResidueTypes = 21;    // the 20 and X
inline constexpr int kUnknownResidue = 20;  // X
inline constexpr int kAtom14 = 14, kAtom37 = 37;
inline constexpr std::size_t kAtomN = 0, kAtomCa = 1, kAtomC = 2, kAtomCb = 3, kAtomO = 4;  // indices in atom37
inline constexpr int kRigidGroups = 8;
inline constexpr int kChiAngles = 4;

/// The names of atom37: N CA C CB O CG CG1 CG2 OG OG1 SG CD ... OXT.
HEADLIGHT_API const std::array<std::string_view, kAtom37>& AtomNames();
HEADLIGHT_API std::optional<int> Atom37Of(std::string_view name);

struct ResidueAtom {
  std::string name;
  int atom37 = 0;
  int group = 0;     // the rigid group that it belongs to
  Vector3 position;  // ideal position in its group's frame
};

/// Atoms are indices in atom14. Lengths are in angstrom and angles in radians, with their standard deviations over
/// well-resolved crystals (Engh and Huber, "Structure quality and target parameters", International Tables for
/// Crystallography F, 2001).
struct Bond {
  int first = 0, second = 0;
  double length = 0, deviation = 0;
};
struct BondAngle {
  int first = 0, middle = 0, last = 0;
  double angle = 0, deviation = 0;
};

struct ResidueType {
  char letter = 'X';
  std::string name = "UNK";        // three letters
  std::vector<ResidueAtom> atoms;  // the type's atoms, by atom14
  /// The four atoms of each torsion chi1, chi2, ... that the type has.
  std::vector<std::array<int, 4>> chi;
  /// Pairs of atoms whose names are ambiguous, since half a turn of the last chi swaps them: OD1 and OD2 of ASP, OE1
  /// and OE2 of GLU, CD1 and CD2, CE1 and CE2 of PHE and TYR. In these residues the last chi is only known up to half a
  /// turn.
  std::vector<std::array<int, 2>> swapped;
  std::vector<Bond> bonds;
  std::vector<BondAngle> angles;

  std::optional<int> Atom14Of(std::string_view atom) const;
};

/// [kResidueTypes]
HEADLIGHT_API const std::array<ResidueType, kResidueTypes>& ResidueTypes();
/// The residue type of a letter or a three-letter name, in upper case; empty if it is not one of the 20, X or UNK.
HEADLIGHT_API std::optional<int> ResidueOfLetter(char letter);
HEADLIGHT_API std::optional<int> ResidueOfName(std::string_view name);

/// The same data as arrays by residue type, in the form that models use. Zero or false for atoms, groups and angles
/// that do not exist, and for all of X except its backbone and psi groups.
template <typename T, std::size_t... axes>
struct ArrayOf;
template <typename T, std::size_t axis, std::size_t... axes>
struct ArrayOf<T, axis, axes...> {
  using type = std::array<typename ArrayOf<T, axes...>::type, axis>;
};
template <typename T>
struct ArrayOf<T> {
  using type = T;
};
template <typename T, std::size_t... axes>
using PerResidueType = typename ArrayOf<T, kResidueTypes, axes...>::type;

struct ResidueTables {
  PerResidueType<bool, kAtom14> has_atom14;
  PerResidueType<bool, kAtom37> has_atom37;                // never OXT, the end of a chain
  PerResidueType<std::int32_t, kAtom14> atom14_to_atom37;  // the index in atom37 of an atom of atom14
  PerResidueType<std::int32_t, kAtom37> atom37_to_atom14;  // the inverse
  PerResidueType<std::int32_t, kAtom14> atom14_group;      // the rigid group of an atom
  PerResidueType<float, kAtom14, 3> atom14_position;       // its ideal position in the group's frame
  PerResidueType<std::int32_t, kAtom14> atom14_swap;       // the atom with which it can be confused; itself for most
  PerResidueType<bool, kAtom14> atom14_ambiguous;          // whether there is such an atom
  PerResidueType<bool, kRigidGroups> has_group;            // backbone, psi and the type's chis
  PerResidueType<bool, kRigidGroups> group_ambiguous;      // a chi that is only known up to half a turn
  /// The 4 x 4 matrix of a group's frame at torsion 0, relative to the group that it rotates against: omega, phi, psi
  /// and chi1 relative to the backbone, chi2 relative to chi1, and so on. Identity for the backbone and omega; zero for
  /// chis that do not exist, and for X.
  PerResidueType<float, kRigidGroups, 4, 4> group_frame;
  /// The three atoms (atom37) that define a group's frame in a structure: a point on the negative x axis, the origin,
  /// and a point in the xy plane. Only if has_group.
  PerResidueType<std::int32_t, kRigidGroups, 3> group_atoms;
  PerResidueType<bool, kChiAngles> has_chi;
  PerResidueType<std::int32_t, kChiAngles, 4> chi_atoms;  // atom37
};
HEADLIGHT_API const ResidueTables& TablesOfResidues();

/// Bounds in angstrom on the distance of two atoms of one residue (atom14), outside of which AlphaFold's violation loss
/// penalizes it. For bonded atoms and the ends of bond angles: the mean distance -+ `factor` deviations. For all
/// others: at least the sum of the van der Waals radii minus `overlap`. 0 for pairs that do not exist.
struct DistanceBounds {
  PerResidueType<float, kAtom14, kAtom14> least, most, deviation;
};
HEADLIGHT_API DistanceBounds BoundsOfDistances(double overlap = 1.5, double factor = 15);

/// In angstrom, for an element, which is the first letter of an atom's name: C, N, O or S.
HEADLIGHT_API double VanDerWaalsRadius(char element);

/// Peptide bond lengths in angstrom if the second residue is not proline, and if it is, and the cosines of the bond
/// angles, each with its deviation.
inline constexpr std::array<double, 2> kPeptideBond = {1.329, 1.341}, kPeptideBondDeviation = {0.014, 0.016};
inline constexpr double kCosCaCN = -0.4473, kCosCaCNDeviation = 0.0311;
inline constexpr double kCosCNCa = -0.5203, kCosCNCaDeviation = 0.0353;
inline constexpr double kCaCaDistance = 3.80209737096;  // between consecutive residues with a trans peptide bond

}  // namespace headlight

// Describes the amino acids: letters, atoms, torsion angles, rigid groups with ideal geometry, and ambiguous atom
// names. All data is generated from the table in protein/residue_table.cc.
//
// Numbering. Residue types are numbered as in AlphaFold, by three-letter names: ARNDCQEGHILKMFPSTWYV. Type 20 is X, an
// unknown residue, which has no atoms. The atoms of a residue have two numberings:
//   atom14  numbers the atoms of one type, at most 14: N, CA, C, O, then outward along the side chain;
//   atom37  numbers the atom names of all types, so an index has the same atom name in every residue.
//
// Rigid groups. Each residue has eight rigid groups. A group is rotated by one torsion angle relative to the previous
// group. Group 0 is the backbone (N, CA, C, CB). Groups 1 and 2 are omega and phi, which only move hydrogens. Group 3
// is psi (O), and groups 4 to 7 are chi1 to chi4. The origin of a group's frame is the end of its axis. The x axis is
// along that axis, and the atom that defines the torsion is in the xy plane with y > 0. The sign of a torsion follows
// IUPAC. psi is defined by the next residue's N. The O that represents it is rotated by 180 degrees. (Jumper et al.,
// "Highly accurate protein structure prediction with AlphaFold", 2021, supplement, section 1.8.4 and table 2.)
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

inline constexpr int kResidueTypes = 21;    ///< the 20 amino acids and X
inline constexpr int kUnknownResidue = 20;  ///< the index of X
inline constexpr int kAtom14 = 14, kAtom37 = 37;
inline constexpr std::size_t kAtomN = 0, kAtomCa = 1, kAtomC = 2, kAtomCb = 3, kAtomO = 4;  ///< indices in atom37
inline constexpr int kRigidGroups = 8;
inline constexpr int kChiAngles = 4;

/// Returns the names of atom37: N CA C CB O CG CG1 CG2 OG OG1 SG CD ... OXT.
HEADLIGHT_API const std::array<std::string_view, kAtom37>& AtomNames();
HEADLIGHT_API std::optional<int> Atom37Of(std::string_view name);

struct ResidueAtom {
  std::string name;
  int atom37 = 0;
  int group = 0;     ///< the rigid group of the atom
  Vector3 position;  ///< the ideal position in the group's frame
};

/// The bonds and bond angles of a residue type. Atoms are indices in atom14. Lengths are in angstrom and angles in
/// radians, with standard deviations over well-resolved crystal structures (Engh and Huber, "Structure quality and
/// target parameters", International Tables for Crystallography F, 2001).
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
  std::string name = "UNK";        ///< the three-letter name
  std::vector<ResidueAtom> atoms;  ///< the type's atoms, in the order of atom14
  /// The four atoms (atom14) of each of the type's torsions chi1, chi2, ...
  std::vector<std::array<int, 4>> chi;
  /// Pairs of atoms with ambiguous names, since rotating the last chi by 180 degrees swaps them: OD1 and OD2 of ASP,
  /// OE1 and OE2 of GLU, CD1 and CD2, CE1 and CE2 of PHE and TYR. In these residues, the last chi is only known up to
  /// 180 degrees.
  std::vector<std::array<int, 2>> swapped;
  std::vector<Bond> bonds;
  std::vector<BondAngle> angles;

  HEADLIGHT_API std::optional<int> Atom14Of(std::string_view atom) const;
};

/// Returns all residue types, [kResidueTypes].
HEADLIGHT_API const std::array<ResidueType, kResidueTypes>& ResidueTypes();
/// Return the residue type of an upper-case letter or three-letter name. Return nullopt if it is neither an amino acid
/// nor X or UNK.
HEADLIGHT_API std::optional<int> ResidueOfLetter(char letter);
HEADLIGHT_API std::optional<int> ResidueOfName(std::string_view name);

/// The properties of residue types as arrays, in the form that models use. The first axis is the residue type. Values
/// are zero or false for atoms, groups and angles that do not exist, and for all of X except its backbone and psi
/// groups.
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
  PerResidueType<bool, kAtom37> has_atom37;  ///< always false for OXT, which is only at the end of a chain
  PerResidueType<std::int32_t, kAtom14> atom14_to_atom37;  ///< the index in atom37 of each atom in atom14
  PerResidueType<std::int32_t, kAtom37> atom37_to_atom14;  ///< the index in atom14 of each atom in atom37
  PerResidueType<std::int32_t, kAtom14> atom14_group;      ///< the rigid group of each atom
  PerResidueType<float, kAtom14, 3> atom14_position;       ///< the ideal position of each atom in its group's frame
  PerResidueType<std::int32_t, kAtom14> atom14_swap;       ///< the other atom of an ambiguous pair, or the atom itself
  PerResidueType<bool, kAtom14> atom14_ambiguous;          ///< true if the atom's name is ambiguous
  PerResidueType<bool, kRigidGroups> has_group;        ///< true for backbone and psi, and for chi angles of the type
  PerResidueType<bool, kRigidGroups> group_ambiguous;  ///< true for a chi angle that is only known up to 180 degrees
  /// The 4 x 4 matrix of each group's frame at torsion 0, relative to the previous group. omega, phi, psi and chi1 are
  /// relative to the backbone, chi2 is relative to chi1, and so on. The identity for the backbone and omega; zero for
  /// chi angles that do not exist, and for X.
  PerResidueType<float, kRigidGroups, 4, 4> group_frame;
  /// The three atoms (atom37) that define each group's frame in a structure: a point on the negative x axis, the
  /// origin, and a point in the xy plane. Only valid if has_group is true.
  PerResidueType<std::int32_t, kRigidGroups, 3> group_atoms;
  PerResidueType<bool, kChiAngles> has_chi;
  PerResidueType<std::int32_t, kChiAngles, 4> chi_atoms;  ///< the four atoms (atom37) of each chi angle
};
HEADLIGHT_API const ResidueTables& TablesOfResidues();

/// The bounds in angstrom on the distance of two atoms of one residue (atom14). AlphaFold's violation loss penalizes
/// distances outside these bounds. For bonded atoms and the outer atoms of bond angles, the bounds are the mean
/// distance +- `factor` standard deviations. For all other pairs, there is only a lower bound: the sum of the van der
/// Waals radii minus `overlap`. The bounds are 0 for pairs that do not exist.
struct DistanceBounds {
  PerResidueType<float, kAtom14, kAtom14> least, most, deviation;
};
HEADLIGHT_API DistanceBounds BoundsOfDistances(double overlap = 1.5, double factor = 15);

/// Returns the van der Waals radius in angstrom of an element: C, N, O or S. The element is the first letter of an
/// atom's name.
HEADLIGHT_API double VanDerWaalsRadius(char element);

/// The length of a peptide bond in angstrom if the second residue is not proline, and if it is proline. The cosines of
/// the bond angles follow. Each value has a standard deviation.
inline constexpr std::array<double, 2> kPeptideBond = {1.329, 1.341}, kPeptideBondDeviation = {0.014, 0.016};
inline constexpr double kCosCaCN = -0.4473, kCosCaCNDeviation = 0.0311;
inline constexpr double kCosCNCa = -0.5203, kCosCNCaDeviation = 0.0353;
/// The CA distance of consecutive residues with a trans peptide bond, in angstrom.
inline constexpr double kCaCaDistance = 3.80209737096;

}  // namespace headlight

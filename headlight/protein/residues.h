// The amino acids: their letters and atoms, the angles by which they turn, the rigid groups of atoms between these,
// with their ideal geometry, and the atoms that two names fit. All is made of one table, protein/residue_table.cc.
//
// Orders. Residue types are numbered as AlphaFold does, by three-letter names: ARNDCQEGHILKMFPSTWYV, then X (20), any
// or an unknown residue, which has no atoms. The atoms of a residue are numbered in two ways:
//   atom14  those of its type alone, N, CA, C, O first, then outward: at most 14;
//   atom37  the names of all types together, so that a column means one name in every residue.
//
// Rigid groups. Eight a residue, each turned by one torsion angle against the one before it: 0 the backbone (N, CA, C,
// CB), 1 omega and 2 phi (which move hydrogens only), 3 psi (O), 4 to 7 chi1 to chi4. A group's frame stands at the end
// of its axis: x along the axis, and the atom that defines the torsion in the xy plane, with y > 0. Torsions have
// IUPAC's sign; psi is that of the next residue's N, half a turn from O's, which stands for it. (Jumper et al., "Highly
// accurate protein structure prediction with AlphaFold", 2021, supplement, section 1.8.4 and table 2.)
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
inline constexpr std::size_t kAtomN = 0, kAtomCa = 1, kAtomC = 2, kAtomCb = 3, kAtomO = 4;  // of atom37
inline constexpr int kRigidGroups = 8;
inline constexpr int kChiAngles = 4;

// N CA C CB O CG CG1 CG2 OG OG1 SG CD ... OXT: the names of atom37, in its order.
HEADLIGHT_API const std::array<std::string_view, kAtom37>& AtomNames();
HEADLIGHT_API std::optional<int> Atom37Of(std::string_view name);

struct ResidueAtom {
  std::string name;
  int atom37 = 0;
  int group = 0;     // the rigid group that it moves with
  Vector3 position;  // ideal, in its group's frame
};

// Atoms are numbers of atom14. Lengths in angstrom and angles in radians, with their deviations over well-resolved
// crystals (Engh and Huber, "Structure quality and target parameters", International Tables for Crystallography F,
// 2001).
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
  std::string name = "UNK";        // of three letters
  std::vector<ResidueAtom> atoms;  // atom14, those that there are
  // The four atoms of each torsion chi1, chi2, ... that there is.
  std::vector<std::array<int, 4>> chi;
  // Pairs of atoms whose names are a convention, since half a turn of the last chi swaps them: OD1 and OD2 of ASP, OE1
  // and OE2 of GLU, CD1 and CD2, CE1 and CE2 of PHE and TYR. In these residues the last chi is only known up to half a
  // turn.
  std::vector<std::array<int, 2>> swapped;
  std::vector<Bond> bonds;
  std::vector<BondAngle> angles;

  std::optional<int> Atom14Of(std::string_view atom) const;
};

// [kResidueTypes]
HEADLIGHT_API const std::array<ResidueType, kResidueTypes>& ResidueTypes();
// The number of a type by its letter or three-letter name, in upper case; nothing where it is none of the 20 and not X
// or UNK.
HEADLIGHT_API std::optional<int> ResidueOfLetter(char letter);
HEADLIGHT_API std::optional<int> ResidueOfName(std::string_view name);

// The same as arrays by [residue type], as a model wants them; zero or false where there is no such atom, group or
// angle, and for all of X but its backbone and psi groups, which exist.
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
  PerResidueType<std::int32_t, kAtom14> atom14_to_atom37;  // the column of atom37 that holds an atom of atom14
  PerResidueType<std::int32_t, kAtom37> atom37_to_atom14;  // and back
  PerResidueType<std::int32_t, kAtom14> atom14_group;      // the rigid group of an atom
  PerResidueType<float, kAtom14, 3> atom14_position;       // its ideal position in the group's frame
  PerResidueType<std::int32_t, kAtom14> atom14_swap;       // the atom that may bear its name; itself for most
  PerResidueType<bool, kAtom14> atom14_ambiguous;          // another may
  PerResidueType<bool, kRigidGroups> has_group;            // backbone, psi and the chis that there are
  PerResidueType<bool, kRigidGroups> group_ambiguous;      // a chi that is known up to half a turn
  // The frame of a group in the frame of the group that it turns against at torsion 0, as a matrix of 4 x 4: omega,
  // phi, psi and chi1 against the backbone, chi2 against chi1 and so on. Identity for the backbone and
  // omega; zero for a chi that there is not, and for X.
  PerResidueType<float, kRigidGroups, 4, 4> group_frame;
  // The three atoms (atom37) that a structure's frame of a group is made of: a point on the negative x axis, the
  // origin, a point in the xy plane. Only where has_group.
  PerResidueType<std::int32_t, kRigidGroups, 3> group_atoms;
  PerResidueType<bool, kChiAngles> has_chi;
  PerResidueType<std::int32_t, kChiAngles, 4> chi_atoms;  // atom37
};
HEADLIGHT_API const ResidueTables& TablesOfResidues();

// The least and most distance of two atoms of one residue (atom14), in angstrom, beyond which AlphaFold's violation
// loss punishes them: of bonded atoms and of the ends of bond angles the mean distance -+ `factor` deviations, of all
// others at least their van der Waals radii less `overlap`. 0 where there is no such pair.
struct DistanceBounds {
  PerResidueType<float, kAtom14, kAtom14> least, most, deviation;
};
HEADLIGHT_API DistanceBounds BoundsOfDistances(double overlap = 1.5, double factor = 15);

// In angstrom, by the element, an atom name's first letter: C, N, O or S.
HEADLIGHT_API double VanDerWaalsRadius(char element);

// The peptide bond between two residues, where the second is any but proline, and where it is proline (angstrom), and
// the cosines of its angles, each with its deviation.
inline constexpr std::array<double, 2> kPeptideBond = {1.329, 1.341}, kPeptideBondDeviation = {0.014, 0.016};
inline constexpr double kCosCaCN = -0.4473, kCosCaCNDeviation = 0.0311;
inline constexpr double kCosCNCa = -0.5203, kCosCNCaDeviation = 0.0353;
inline constexpr double kCaCaDistance = 3.80209737096;  // of neighbours whose peptide bond is trans

}  // namespace headlight

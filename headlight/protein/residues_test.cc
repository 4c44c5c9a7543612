#include "headlight/protein/residues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "headlight/base/json.h"

namespace headlight::residues_test {
namespace {

constexpr double kPi = std::numbers::pi;

template <typename T>
void Flatten(const T& value, std::vector<double>& out) {
  if constexpr (std::is_arithmetic_v<T>)
    out.push_back(static_cast<double>(value));
  else
    for (const auto& item : value) Flatten(item, out);
}

// Computes the same sums as `weighted` in tools/make_residue_goldens.py.
template <typename Table>
std::vector<double> Weighted(const Table& table) {
  std::vector<double> sums;
  for (const auto& type : table) {
    std::vector<double> flat;
    Flatten(type, flat);
    double sum = 0;
    for (std::size_t i = 0; i < flat.size(); ++i) sum += flat[i] * static_cast<double>(1 + i % 97);
    sums.push_back(sum);
  }
  return sums;
}

std::vector<double> Numbers(const JsonView& array) {
  std::vector<double> numbers;
  for (const JsonView& item : array.Items()) numbers.push_back(item.Number());
  return numbers;
}

void ExpectNear(const std::vector<double>& values, const std::vector<double>& expected, double tolerance,
                const std::string& name) {
  ASSERT_EQ(values.size(), expected.size()) << name;
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << name << " " << i;
}

TEST(Residues, TablesMatchOpenFold) {
  const JsonView golden = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/residues.json");
  const auto& types = ResidueTypes();
  std::string letters;
  for (const ResidueType& type : types) letters += type.letter;
  EXPECT_EQ(letters, golden["letters"].String());
  const std::vector<std::string> names = golden["names"].Strings();
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(types[i].name, names[i]);
  const std::vector<std::string> atoms = golden["atoms"].Strings();
  EXPECT_TRUE(std::equal(atoms.begin(), atoms.end(), AtomNames().begin(), AtomNames().end()));

  const ResidueTables& tables = TablesOfResidues();
  const auto same = [&](const auto& table, const char* name) {
    ExpectNear(Weighted(table), Numbers(golden[name]), 1e-5, name);
  };
  same(tables.has_atom14, "has_atom14");
  same(tables.has_atom37, "has_atom37");
  same(tables.atom14_to_atom37, "atom14_to_atom37");
  same(tables.atom37_to_atom14, "atom37_to_atom14");
  same(tables.atom14_group, "atom14_group");
  same(tables.atom14_position, "atom14_position");
  same(tables.atom14_swap, "atom14_swap");
  same(tables.atom14_ambiguous, "atom14_ambiguous");
  same(tables.has_group, "has_group");
  same(tables.group_frame, "group_frame");
  same(tables.group_atoms, "group_atoms");
  same(tables.chi_atoms, "chi_atoms");
  PerResidueType<bool, kChiAngles> chi_ambiguous{};
  for (std::size_t r = 0; r < kResidueTypes; ++r) {
    for (std::size_t i = 0; i < kChiAngles; ++i) {
      chi_ambiguous[r][i] = tables.group_ambiguous[r][4 + i];
      EXPECT_EQ(tables.has_chi[r][i], tables.has_group[r][4 + i]);
    }
  }
  same(chi_ambiguous, "chi_ambiguous");
  DistanceBounds bounds = BoundsOfDistances();
  for (auto& type : bounds.most)
    for (auto& row : type)
      for (float& most : row) most = most > 1e9F ? 1000 : most;
  same(bounds.least, "least");
  same(bounds.most, "most");
  same(bounds.deviation, "deviation");

  std::vector<double> frames;
  for (const JsonView& type : golden["some"].Items())
    for (const auto& frame : tables.group_frame[static_cast<std::size_t>(type.Integer(0, 20))])
      for (std::size_t row = 0; row < 3; ++row) Flatten(frame[row], frames);
  ExpectNear(frames, Numbers(golden["frames_of_some"]), 2e-6, "frames");
}

// Returns the atom positions of a residue, computed from its frames with the given torsions for psi and chi1 to chi4.
std::vector<Vector3> Build(std::size_t type, const std::array<double, kRigidGroups>& angles) {
  const ResidueTables& tables = TablesOfResidues();
  std::array<std::function<Vector3(Vector3)>, kRigidGroups> to_backbone;
  for (std::size_t group = 0; group < kRigidGroups; ++group) {
    to_backbone[group] = [&tables, &to_backbone, &angles, type, group](Vector3 p) {
      const double s = std::sin(angles[group]), c = std::cos(angles[group]);
      p = {p.x, c * p.y - s * p.z, s * p.y + c * p.z};
      const auto& m = tables.group_frame[type][group];
      const auto row = [&](std::size_t i) { return m[i][0] * p.x + m[i][1] * p.y + m[i][2] * p.z + m[i][3]; };
      p = {row(0), row(1), row(2)};
      return group > 4 ? to_backbone[group - 1](p) : p;
    };
  }
  std::vector<Vector3> atoms;
  for (const ResidueAtom& atom : ResidueTypes()[type].atoms)
    atoms.push_back(to_backbone[static_cast<std::size_t>(atom.group)](atom.position));
  return atoms;
}

// Checks that two independent sources agree: the ideal positions in the groups' frames, and the bond lengths and
// angles.
TEST(Residues, IdealAtomsHaveTheBondsAndAngles) {
  const std::array<double, kRigidGroups> turns = {0, 0, 0, 2.1, -1.1, 3.0, 0.7, -2.5};
  for (std::size_t r = 0; r < kUnknownResidue; ++r) {
    const ResidueType& type = ResidueTypes()[r];
    const std::vector<Vector3> atoms = Build(r, turns);
    const auto at = [&](int atom) { return atoms[static_cast<std::size_t>(atom)]; };
    const auto name = [&](int atom) { return type.atoms[static_cast<std::size_t>(atom)].name; };
    const std::vector<Bond>& bonds = type.bonds;
    EXPECT_EQ(bonds.size(), type.atoms.size() - (std::string("HFYP").find(type.letter) == std::string::npos ? 1 : 0) +
                                (type.letter == 'W' ? 2 : 0))
        << type.name;
    for (const Bond& bond : bonds) {
      // This bond closes the ring of proline, whose pucker varies.
      if (type.letter == 'P' && name(bond.second) == "N") continue;
      EXPECT_NEAR(Distance(at(bond.first), at(bond.second)), bond.length, 4 * bond.deviation)
          << type.name << " " << name(bond.first) << "-" << name(bond.second);
    }
    for (const BondAngle& angle : type.angles) {
      if (type.letter == 'P' && (name(angle.last) == "CD" || name(angle.last) == "N")) continue;
      const Vector3 a = at(angle.first) - at(angle.middle), b = at(angle.last) - at(angle.middle);
      EXPECT_NEAR(std::acos(Dot(a, b) / Norm(a) / Norm(b)), angle.angle, 4 * angle.deviation)
          << type.name << " " << name(angle.first) << "-" << name(angle.middle) << "-" << name(angle.last);
    }
  }
}

TEST(Residues, FramesRotateByTheTorsions) {
  const std::array<double, kRigidGroups> turns = {0, 0, 0, 2.1, -1.1, 3.0, 0.7, -2.5};
  for (std::size_t r = 0; r < kUnknownResidue; ++r) {
    const std::vector<Vector3> atoms = Build(r, turns);
    const auto at = [&](int atom) { return atoms[static_cast<std::size_t>(atom)]; };
    // psi is defined by the next residue's N, which is opposite O.
    EXPECT_NEAR(Dihedral(at(0), at(1), at(2), at(3)), turns[3] - kPi, 0.02) << r;
    const auto& chi = ResidueTypes()[r].chi;
    for (std::size_t i = 0; i < chi.size(); ++i)
      EXPECT_NEAR(Dihedral(at(chi[i][0]), at(chi[i][1]), at(chi[i][2]), at(chi[i][3])), turns[4 + i], 1e-2)
          << ResidueTypes()[r].name << " chi" << i + 1;
  }
}

TEST(Residues, AreLeftHanded) {
  // In an L-amino acid, the groups CO, R and N are in clockwise order, seen from the hydrogen.
  for (std::size_t r = 0; r < kUnknownResidue; ++r) {
    const ResidueType& type = ResidueTypes()[r];
    const std::optional<int> cb = type.Atom14Of("CB");
    if (!cb.has_value()) continue;
    const Vector3 n = type.atoms[0].position, c = type.atoms[2].position;
    EXPECT_GT(Dot(Cross(n, c), type.atoms[static_cast<std::size_t>(*cb)].position), 0) << type.name;
  }
}

TEST(Residues, SwappedAtomsAreHalfATurnApart) {
  for (std::size_t r = 0; r < kUnknownResidue; ++r) {
    const ResidueType& type = ResidueTypes()[r];
    if (type.swapped.empty()) continue;
    std::array<double, kRigidGroups> turns = {0, 0, 0, 2.1, -1.1, 0.4, 0.7, 0};
    const std::vector<Vector3> atoms = Build(r, turns);
    turns[3 + type.chi.size()] += kPi;
    const std::vector<Vector3> turned = Build(r, turns);
    for (const auto& [a, b] : type.swapped) {
      EXPECT_LT(Distance(atoms[static_cast<std::size_t>(a)], turned[static_cast<std::size_t>(b)]), 0.06) << type.name;
      EXPECT_LT(Distance(atoms[static_cast<std::size_t>(b)], turned[static_cast<std::size_t>(a)]), 0.06) << type.name;
      EXPECT_GT(Distance(atoms[static_cast<std::size_t>(a)], atoms[static_cast<std::size_t>(b)]), 2) << type.name;
    }
  }
}

TEST(Residues, AreFoundByLetterAndName) {
  EXPECT_EQ(ResidueOfLetter('A'), 0);
  EXPECT_EQ(ResidueOfLetter('V'), 19);
  EXPECT_EQ(ResidueOfLetter('X'), kUnknownResidue);
  EXPECT_EQ(ResidueOfLetter('a'), std::nullopt);
  EXPECT_EQ(ResidueOfLetter('B'), std::nullopt);
  EXPECT_EQ(ResidueOfName("TRP"), 17);
  EXPECT_EQ(ResidueOfName("UNK"), kUnknownResidue);
  EXPECT_EQ(ResidueOfName("MSE"), std::nullopt);
  EXPECT_EQ(Atom37Of("OXT"), 36);
  EXPECT_EQ(Atom37Of("HA"), std::nullopt);
}

TEST(Residues, DihedralHasIupacsSign) {
  // Seen from b to c, d is rotated clockwise from a by 90 degrees.
  EXPECT_NEAR(Dihedral({0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 1}), kPi / 2, 1e-12);
  EXPECT_NEAR(Dihedral({0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, -1}), -kPi / 2, 1e-12);
  EXPECT_NEAR(std::abs(Dihedral({0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {1, -1, 0})), kPi, 1e-12);
  EXPECT_NEAR(Dihedral({0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {1, 1, 0}), 0, 1e-12);
}

}  // namespace
}  // namespace headlight::residues_test

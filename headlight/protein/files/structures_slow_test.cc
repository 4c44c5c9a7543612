// Tests with experimental structures and their alignments, in the folder that the environment variable
// HEADLIGHT_PROTEINS names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "headlight/protein/alignment.h"
#include "headlight/protein/files/structure_files.h"

namespace headlight::structures_slow_test {
namespace {

// Returns the path of the subfolder `pairs`, which has the structures 102m, 1k1a and 2q2k with alignments. Returns ""
// if HEADLIGHT_PROTEINS is not set.
std::string Pairs() {
  const char* const proteins = std::getenv("HEADLIGHT_PROTEINS");
  return proteins == nullptr ? "" : std::string(proteins) + "/pairs/";
}

struct Pair {
  const char *structure, *alignment;
  std::int64_t rows;
  int columns, observed;
};

TEST(ExperimentalStructures, AgreeWithTheirAlignments) {
  const std::string pairs = Pairs();
  if (pairs.empty()) GTEST_SKIP() << "HEADLIGHT_PROTEINS names no folder";
  for (const Pair& pair : {Pair{"102m.cif.gz", "102m.a3m.gz", 869, 154, 154},
                           {"1k1a.cif.gz", "1k1a.a3m.gz", 8061, 241, 228},
                           {"openfold_2q2k/2q2k.cif.gz", "openfold_2q2k/bfd_uniclust_hits.a3m", 4, 70, 45}}) {
    const Structure structure = ReadStructure(pairs + pair.structure);
    const ProteinChain& chain = ChainOf(structure, "A");
    AlignmentReader reader(pairs + pair.alignment, {.query = chain.Letters(), .most_rows = 1 << 20});
    std::int64_t rows = 0;
    while (reader.Next()) ++rows;
    EXPECT_EQ(rows, pair.rows) << pair.alignment;
    EXPECT_EQ(reader.columns(), pair.columns);
    int observed = 0;
    for (const Residue& residue : chain.residues) observed += residue.observed() ? 1 : 0;
    EXPECT_EQ(observed, pair.observed) << pair.structure;
  }
}

// Compares the residue table with crystal structures. The mean bond lengths and angles must agree within 0.1 angstrom
// and 5 degrees. Also checks the chirality of all residues, and that no bond is twice as long as in the table.
TEST(ExperimentalStructures, MatchTheResidueTable) {
  const std::string pairs = Pairs();
  if (pairs.empty()) GTEST_SKIP() << "HEADLIGHT_PROTEINS names no folder";
  std::map<std::string, std::pair<double, int>> bonds, angles;  // the summed difference and the count
  for (const char* file : {"102m.cif.gz", "1k1a.cif.gz", "8f9h.cif.gz", "1a3a/1a3a.pdb"}) {
    for (const ProteinChain& chain : ReadStructure(pairs + file).chains) {
      for (const Residue& residue : chain.residues) {
        const ResidueType& type = ResidueTypes()[static_cast<std::size_t>(residue.type)];
        const auto index = [&](int atom) {
          return static_cast<std::size_t>(type.atoms[static_cast<std::size_t>(atom)].atom37);
        };
        const auto name = [&](int atom) { return type.atoms[static_cast<std::size_t>(atom)].name; };
        for (const Bond& bond : type.bonds) {
          if (!residue.known[index(bond.first)] || !residue.known[index(bond.second)]) continue;
          const double length = Distance(residue.atoms[index(bond.first)], residue.atoms[index(bond.second)]);
          EXPECT_LT(length, 2 * bond.length) << file << " " << residue.name << residue.number;
          auto& [sum, count] = bonds[type.name + " " + name(bond.first) + "-" + name(bond.second)];
          sum += length - bond.length;
          ++count;
        }
        for (const BondAngle& angle : type.angles) {
          if (!residue.known[index(angle.first)] || !residue.known[index(angle.middle)] ||
              !residue.known[index(angle.last)])
            continue;
          const Vector3 middle = residue.atoms[index(angle.middle)];
          const Vector3 a = residue.atoms[index(angle.first)] - middle, b = residue.atoms[index(angle.last)] - middle;
          auto& [sum, count] =
              angles[type.name + " " + name(angle.first) + "-" + name(angle.middle) + "-" + name(angle.last)];
          sum += (std::acos(Dot(a, b) / Norm(a) / Norm(b)) - angle.angle) * 57.3;
          ++count;
        }
      }
    }
  }
  EXPECT_GT(bonds.size(), 150U);
  for (const auto& [name, sum] : bonds) EXPECT_LT(std::abs(sum.first / sum.second), 0.1) << name;
  for (const auto& [name, sum] : angles) EXPECT_LT(std::abs(sum.first / sum.second), 5) << name;
}

}  // namespace
}  // namespace headlight::structures_slow_test

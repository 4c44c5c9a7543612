#include "headlight/protein/structure_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headlight/base/error.h"

namespace headlight::structure_labels_test {
namespace {

constexpr std::size_t kN = 0, kCa = 1, kC = 2;

Residue Backbone(char letter, int number, double x) {
  Residue residue;
  residue.type = ResidueOfLetter(letter).value();
  residue.number = number;
  residue.atoms[kN] = {x, 0, 0};
  residue.atoms[kCa] = {x + 1.2, 0.8, 0};
  residue.atoms[kC] = {x + 2.4, 0, 0.2};
  for (const std::size_t atom : {kN, kCa, kC}) residue.known[atom] = true;
  return residue;
}

ProteinChain Chain(std::vector<Residue> residues) {
  ProteinChain chain;
  chain.residues = std::move(residues);
  return chain;
}

TEST(StructureLabels, PositionsFollowTheNumbersOnlyAtBreaks) {
  // Residue 1 is bonded, but its number skips one. Residues 2 and 3 follow breaks. The number of residue 2 is higher by
  // 4, and the number of residue 3 is lower. Residue 4 is not observed, but residue 5 is.
  const ProteinChain chain = Chain({Backbone('A', 10, 0), Backbone('A', 12, 3.7), Backbone('A', 16, 20),
                                    Backbone('A', 3, 40), Residue(), Backbone('A', 30, 60)});
  EXPECT_THAT(PositionsOf(chain), testing::ElementsAre(0, 1, 5, 6, 7, 8));
}

TEST(StructureLabels, PositionsAreBounded) {
  const int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  EXPECT_THROW(PositionsOf(Chain({Backbone('A', least, 0), Backbone('A', most, 50)})), Error);
}

TEST(StructureLabels, CollinearAtomsDefineNoFrame) {
  Residue residue = Backbone('A', 1, 0);
  EXPECT_TRUE(LabelsOf(Chain({residue}))[0].frame_known[0]);
  residue.atoms[kC] = {2.4, 1.6, 0};
  const ResidueLabels straight = LabelsOf(Chain({residue}))[0];
  EXPECT_FALSE(straight.frame_known[0]);
  EXPECT_TRUE(straight.known[2]);
  residue.atoms[kC] = residue.atoms[kCa];
  EXPECT_FALSE(LabelsOf(Chain({residue}))[0].frame_known[0]);
}

TEST(StructureLabels, UnknownResiduesHaveOnlyABackboneFrame) {
  const ResidueLabels labels = LabelsOf(Chain({Backbone('X', 1, 0)}))[0];
  EXPECT_TRUE(labels.frame_known[0]);
  EXPECT_FALSE(labels.known[kCa]);
  EXPECT_FALSE(labels.beta_known);
}

// Checks aspartate: OD1 and OD2 are swapped, and everything else is unchanged.
TEST(StructureLabels, RenamingTwiceIsTheIdentity) {
  Residue residue = Backbone('D', 1, 0);
  const auto set = [&](const char* name, const Vector3& at) {
    const auto atom = static_cast<std::size_t>(Atom37Of(name).value());
    residue.atoms[atom] = at;
    residue.known[atom] = true;
  };
  set("CB", {1.2, 2.1, 0.7});
  set("CG", {0.4, 3.2, 0.1});
  set("OD1", {-0.6, 3.2, 0.8});
  const ResidueLabels labels = LabelsOf(Chain({residue}))[0], renamed = Renamed(labels);
  const ResidueType& type = ResidueTypes()[static_cast<std::size_t>(residue.type)];
  const auto od1 = static_cast<std::size_t>(type.Atom14Of("OD1").value());
  const auto od2 = static_cast<std::size_t>(type.Atom14Of("OD2").value());
  EXPECT_TRUE(labels.known[od1] && !labels.known[od2] && !renamed.known[od1] && renamed.known[od2]);
  EXPECT_EQ(renamed.atoms[od2], labels.atoms[od1]);
  EXPECT_TRUE(labels.torsion_known[4]);
  EXPECT_EQ(renamed.torsions[4][0], -labels.torsions[4][0]);
  EXPECT_EQ(renamed.torsions[3], labels.torsions[3]);
  EXPECT_EQ(Renamed(renamed).atoms, labels.atoms);
  EXPECT_EQ(Renamed(renamed).torsions, labels.torsions);
  EXPECT_THROW(BetterRenamed(std::vector<ResidueLabels>(2), {}), Error);
}

}  // namespace
}  // namespace headlight::structure_labels_test

#include "headlight/protein/secondary_structure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "headlight/protein/testing.h"

namespace headlight::secondary_structure_test {
namespace {

std::string LettersOf(std::span<const BackboneAtoms> backbone, std::span<const int> breaks = {}) {
  std::string letters;
  for (const SecondaryStructure kind : SecondaryStructureOf(backbone, breaks)) letters += static_cast<char>(kind);
  return letters;
}

TEST(SecondaryStructure, IsAHelixIfBondsSpanFourResidues) {
  EXPECT_EQ(LettersOf(MadeBackbone(12, -57, -47)), "-HHHHHHHHHH-");
  EXPECT_EQ(LettersOf(MadeBackbone(12, -120, 130)), "------------");  // a single strand has no bonds
  EXPECT_EQ(LettersOf(MadeBackbone(12, 57, 47)), "-HHHHHHHHHH-");     // a left-handed helix
  EXPECT_EQ(LettersOf({}), "");
}

TEST(SecondaryStructure, HasNoBondsAcrossABreak) {
  const std::vector<BackboneAtoms> helix = MadeBackbone(12, -57, -47);
  EXPECT_EQ(LettersOf(helix, std::vector{3, 4, 5, 6, 7, 8, 9, 10}), "------------");
}

// Adds a second strand next to the first, rotated by 180 degrees around an axis perpendicular to both. Checks that the
// strands are bonded at some offsets.
TEST(SecondaryStructure, IsAStrandIfTwoStrandsBond) {
  const std::vector<BackboneAtoms> strand = MadeBackbone(9, -139, 135);
  const Vector3 along = Unit(strand[8][1] - strand[0][1]);
  const Vector3 bond = strand[4][3] - strand[4][2];
  const Vector3 across = Unit(bond - Dot(bond, along) * along), up = Cross(along, across);
  std::string most;
  for (double apart = 4; apart < 6; apart += 0.2)
    for (double shift = -4; shift < 4; shift += 0.2) {
      std::vector<BackboneAtoms> both = strand;
      for (BackboneAtoms atoms : strand) {
        for (Vector3& atom : atoms) {
          const Vector3 from = atom - strand[4][1];
          // A rotation by 180 degrees around `up` inverts `along` and `across`.
          atom = strand[4][1] + (shift - Dot(from, along)) * along + (apart - Dot(from, across)) * across +
                 Dot(from, up) * up;
        }
        both.push_back(atoms);
      }
      const std::string letters = LettersOf(both, std::vector{8});
      if (std::ranges::count(letters, 'E') > std::ranges::count(most, 'E')) most = letters;
    }
  EXPECT_GE(std::ranges::count(most, 'E'), 8) << most;
  EXPECT_EQ(std::ranges::count(most, 'H'), 0) << most;
}

TEST(SecondaryStructure, AllowsCoincidentAtoms) { EXPECT_EQ(LettersOf(std::vector<BackboneAtoms>(6)), "------"); }

}  // namespace
}  // namespace headlight::secondary_structure_test

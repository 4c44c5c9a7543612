#include "headlight/inspect/ribbon.h"

#include <gtest/gtest.h>

#include "headlight/protein/testing.h"

namespace headlight::ribbon_test {
namespace {

constexpr std::size_t kAlpha = 1;
constexpr int kSteps = 4;

Vector3 MiddleOf(const RibbonEdge& edge) { return 0.5 * (edge.left + edge.right); }
double WidthOf(const RibbonEdge& edge) { return Distance(edge.left, edge.right); }

TEST(Ribbon, PassesThroughTheAlphasOfAHelix) {
  const std::vector<BackboneAtoms> helix = MadeBackbone(12, -57, -47);
  const Ribbon flat = RibbonOf(helix, std::vector(12, SecondaryStructure::helix), {}, kSteps);
  const Ribbon cord = RibbonOf(helix, std::vector(12, SecondaryStructure::coil), {}, kSteps);
  for (std::size_t i = 0; i + 1 < helix.size(); ++i) {
    ASSERT_EQ(flat.After(i).size(), std::size_t{kSteps} + 1);
    EXPECT_LT(Distance(MiddleOf(flat.After(i).front()), helix[i][kAlpha]), 1e-9);
    EXPECT_LT(Distance(MiddleOf(flat.After(i).back()), helix[i + 1][kAlpha]), 1e-9);
    EXPECT_GT(WidthOf(flat.After(i).front()), 4 * WidthOf(cord.After(i).front()));
  }
}

// Checks that the middle of a strand is smoother than its residues, and that the strand ends with an arrowhead.
TEST(Ribbon, OfAStrandIsSmoothAndEndsInAnArrow) {
  const std::vector<BackboneAtoms> strand = MadeBackbone(10, -139, 135);
  std::vector<SecondaryStructure> kinds(10, SecondaryStructure::strand);
  kinds[8] = kinds[9] = SecondaryStructure::coil;
  const Ribbon ribbon = RibbonOf(strand, kinds, {}, kSteps);
  const Vector3 along = Unit(strand[7][kAlpha] - strand[1][kAlpha]);
  double of_residues = 0, of_ribbon = 0;  // greatest distances from the line through both ends
  for (std::size_t i = 2; i < 7; ++i) {
    const auto across = [&](const Vector3& place) {
      const Vector3 from = place - strand[1][kAlpha];
      return Norm(from - Dot(from, along) * along);
    };
    of_residues = std::max(of_residues, across(strand[i][kAlpha]));
    of_ribbon = std::max(of_ribbon, across(MiddleOf(ribbon.After(i).front())));
  }
  EXPECT_LT(of_ribbon, 0.7 * of_residues);
  EXPECT_GT(WidthOf(ribbon.After(7).front()), 1.5 * WidthOf(ribbon.After(4).front()));
  EXPECT_LT(WidthOf(ribbon.After(7).back()), 0.5 * WidthOf(ribbon.After(4).front()));
}

TEST(Ribbon, IsEmptyAcrossABreak) {
  const std::vector<BackboneAtoms> helix = MadeBackbone(6, -57, -47);
  const Ribbon ribbon = RibbonOf(helix, std::vector(6, SecondaryStructure::helix), std::vector{2}, kSteps);
  for (const RibbonEdge& edge : ribbon.After(2)) {
    EXPECT_EQ(WidthOf(edge), 0);
    EXPECT_LT(Distance(edge.left, helix[2][kAlpha]), 1e-9);
  }
  EXPECT_GT(WidthOf(ribbon.After(1).front()), 1);
}

}  // namespace
}  // namespace headlight::ribbon_test

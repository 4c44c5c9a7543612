#include "headlight/protein/structure_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/protein/superposition.h"

namespace headlight::structure_scores_test {
namespace {

using testing::HasSubstr;

JsonView Golden() { return ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/structure_scores.json"); }

std::vector<Vector3> PointsOf(const JsonView& numbers) {
  std::vector<Vector3> points;
  const std::vector<JsonView> items = numbers.Items();
  for (std::size_t i = 0; i + 2 < items.size(); i += 3)
    points.push_back({items[i].Number(), items[i + 1].Number(), items[i + 2].Number()});
  return points;
}

std::vector<Residue> ResiduesAt(const std::vector<Vector3>& ca) {
  std::vector<Residue> residues(ca.size());
  for (std::size_t i = 0; i < ca.size(); ++i) {
    residues[i].known[1] = true;
    residues[i].atoms[1] = ca[i];
  }
  return residues;
}

void ExpectEach(const std::vector<double>& scores, const JsonView& expected) {
  const std::vector<JsonView> items = expected.Items();
  ASSERT_EQ(scores.size(), items.size());
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], items[i].Number(), 2e-6) << i;
}

TEST(StructureScores, EqualTmScoreAndTheDefinitions) {
  for (const JsonView& chain : Golden()["chains"].Items()) {
    const std::vector<Vector3> model = PointsOf(chain["model"]), reference = PointsOf(chain["reference"]);
    std::vector<Vector3> a, b;
    for (const JsonView& residue : chain["residues"].Items()) {
      a.push_back(model[static_cast<std::size_t>(residue.Integer())]);
      b.push_back(reference[static_cast<std::size_t>(residue.Integer())]);
    }
    const SuperposedScores scores = ScoreSuperposed(a, b, static_cast<std::int64_t>(reference.size()));
    // TMscore prints four digits.
    EXPECT_NEAR(scores.tm_score, chain["tm_score"].Number(), 1e-4);
    EXPECT_NEAR(scores.gdt_ts, chain["gdt_ts"].Number(), 6e-5);
    EXPECT_NEAR(scores.gdt_ha, chain["gdt_ha"].Number(), 6e-5);
    const RigidFrame closest = Superpose(a, b);
    std::vector<Vector3> moved;
    for (const Vector3& point : a) moved.push_back(closest(point));
    EXPECT_NEAR(RootMeanSquare(moved, b), chain["rmsd"].Number(), 1e-6);
    EXPECT_NEAR(DistanceRootMeanSquare(a, b), chain["drmsd"].Number(), 1e-6);
    const LocalDistanceScore local = ScoreLocalDistances(ResiduesAt(a), ResiduesAt(b), false);
    EXPECT_NEAR(local.score, chain["lddt_ca"].Number(), 1e-6);
    ExpectEach(local.by_residue, chain["lddt_ca_by_residue"]);
  }
}

// The golden's residues with all their atoms: of the model and of the reference.
std::pair<std::vector<Residue>, std::vector<Residue>> GoldenResidues() {
  const JsonView golden = Golden()["atoms"];
  const std::vector<Vector3> model = PointsOf(golden["model"]), reference = PointsOf(golden["reference"]);
  std::vector<Residue> a, b;
  std::size_t atom = 0;
  for (const JsonView& described : golden["residues"].Items()) {
    const std::vector<std::string> names = described.Strings();
    Residue residue;
    residue.name = names[0];
    residue.type = ResidueOfName(names[0]).value();
    a.push_back(residue);
    b.push_back(residue);
    for (std::size_t i = 1; i < names.size(); ++i, ++atom) {
      const auto column = static_cast<std::size_t>(Atom37Of(names[i]).value());
      a.back().known[column] = b.back().known[column] = true;
      a.back().atoms[column] = model[atom];
      b.back().atoms[column] = reference[atom];
    }
  }
  return {a, b};
}

TEST(StructureScores, AllAtomsChooseTheBetterNames) {
  const JsonView golden = Golden()["atoms"];
  auto [a, b] = GoldenResidues();
  const LocalDistanceScore score = ScoreLocalDistances(a, b, true);
  EXPECT_NEAR(score.score, golden["lddt"].Number(), 1e-6);
  ExpectEach(score.by_residue, golden["lddt_by_residue"]);
  // Equal structures keep all, also where atoms are known of the reference alone.
  EXPECT_EQ(ScoreLocalDistances(b, b, true).score, 1);
  a = b;
  for (Residue& residue : a) residue.known[4] = false;
  EXPECT_LT(ScoreLocalDistances(a, b, true).score, 0.9);
}

TEST(StructureScores, AllAtomsAreSuperposedUnderTheBetterNames) {
  const std::vector<Residue> reference = GoldenResidues().second;
  std::vector<Residue> moved = reference;
  double atoms = 0;
  bool swapped = false;
  for (Residue& residue : moved) {
    for (Vector3& p : residue.atoms) p = {5 - p.y, p.x + 2, p.z - 1};  // a quarter turn
    for (const bool known : residue.known) atoms += known ? 1 : 0;
    const ResidueType& type = ResidueTypes()[static_cast<std::size_t>(residue.type)];
    for (const auto& [first, second] : type.swapped) {
      const auto column = [&](int atom) {
        return static_cast<std::size_t>(type.atoms[static_cast<std::size_t>(atom)].atom37);
      };
      std::swap(residue.atoms[column(first)], residue.atoms[column(second)]);
      swapped = swapped || residue.known[column(first)];
    }
  }
  ASSERT_TRUE(swapped);
  EXPECT_LT(AllAtomRootMeanSquare(moved, reference), 1e-9);
  moved[0].atoms[1].z += 1.5;  // one CA, which the superposition follows a little
  const double rmsd = AllAtomRootMeanSquare(moved, reference), alone = 1.5 / std::sqrt(atoms);
  EXPECT_LT(rmsd, alone);
  EXPECT_GT(rmsd, 0.8 * alone);
}

TEST(StructureScores, MirroredChainsAreNotSuperposed) {
  const JsonView chain = Golden()["chains"].Items()[0];
  const std::vector<Vector3> reference = PointsOf(chain["reference"]);
  std::vector<Vector3> moved, mirrored;
  for (const Vector3& p : reference) {
    moved.push_back({5 - p.y, p.x + 2, p.z - 1});  // a quarter turn
    mirrored.push_back({p.x, p.y, -p.z});
  }
  const auto length = static_cast<std::int64_t>(reference.size());
  EXPECT_NEAR(ScoreSuperposed(moved, reference, length).tm_score, 1, 1e-9);
  EXPECT_NEAR(ScoreSuperposed(moved, reference, length).gdt_ha, 1, 1e-9);
  EXPECT_LT(ScoreSuperposed(mirrored, reference, length).tm_score, 0.6);
  EXPECT_NEAR(DistanceRootMeanSquare(mirrored, reference), 0, 1e-9);
  const RigidFrame turn = Superpose(mirrored, reference);
  EXPECT_NEAR(Dot(Cross(turn.rows[0], turn.rows[1]), turn.rows[2]), 1, 1e-12);  // no reflection
}

TEST(StructureScores, RefuseWhatDoesNotCorrespond) {
  std::vector<Vector3> two(2), three = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  EXPECT_THAT(ErrorOf([&] { ScoreSuperposed(two, two, 2); }), HasSubstr("TM-score takes at least 3"));
  EXPECT_THAT(ErrorOf([&] { ScoreSuperposed(three, three, 2); }), HasSubstr("a reference of 2"));
  EXPECT_THAT(ErrorOf([&] { Superpose(two, three); }), HasSubstr("2 points to compare with 3"));
  three[1].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ErrorOf([&] { ScoreSuperposed(three, three, 3); }), HasSubstr("not finite"));
}

TEST(StructureScores, ResiduesCorrespondByPlaceOrNumber) {
  ProteinChain model{"A", ResiduesAt(std::vector<Vector3>(5))}, reference = model;
  for (int i = 0; i < 5; ++i) {
    model.residues[static_cast<std::size_t>(i)].number = i;
    reference.residues[static_cast<std::size_t>(i)].number = 100 + i;
  }
  reference.residues[1].known[1] = false;
  Correspondence pairs = Correspond(model, reference);
  EXPECT_EQ(pairs.reference.size(), 4U);
  EXPECT_EQ(pairs.reference_length, 4);
  EXPECT_EQ(pairs.model[1].number, 2);
  reference.residues.erase(reference.residues.begin());
  reference.residues[2].number = 4;
  reference.residues[2].insertion = 'A';
  reference.residues[3].number = 4;
  pairs = Correspond(model, reference);
  EXPECT_TRUE(pairs.by_number);
  ASSERT_EQ(pairs.model.size(), 1U);
  EXPECT_EQ(pairs.model[0].number, 4);
  EXPECT_EQ(pairs.reference_length, 3);
}

}  // namespace
}  // namespace headlight::structure_scores_test

#include "headlight/protein/structure_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
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

TEST(StructureScores, MatchTmScoreAndTheDefinitions) {
  for (const JsonView& chain : Golden()["chains"].Items()) {
    const std::vector<Vector3> model = PointsOf(chain["model"]), reference = PointsOf(chain["reference"]);
    std::vector<Vector3> a, b;
    for (const JsonView& residue : chain["residues"].Items()) {
      a.push_back(model[static_cast<std::size_t>(residue.Integer())]);
      b.push_back(reference[static_cast<std::size_t>(residue.Integer())]);
    }
    const SuperposedScores scores = ScoreSuperposed(a, b, static_cast<std::int64_t>(reference.size()));
    // The tolerances follow from the four digits that TMscore prints.
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

// Returns the all-atom residues of the golden file: the model and the reference.
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
  // Equal structures preserve all distances. Atoms that are known only in the reference lower the score.
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
    for (Vector3& p : residue.atoms) p = {5 - p.y, p.x + 2, p.z - 1};  // rotates by 90 degrees and translates
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
  moved[0].atoms[1].z += 1.5;  // moves one CA, which changes the superposition slightly
  const double rmsd = AllAtomRootMeanSquare(moved, reference), alone = 1.5 / std::sqrt(atoms);
  EXPECT_LT(rmsd, alone);
  EXPECT_GT(rmsd, 0.8 * alone);
}

TEST(StructureScores, MirroredChainsAreNotSuperposed) {
  const JsonView chain = Golden()["chains"].Items()[0];
  const std::vector<Vector3> reference = PointsOf(chain["reference"]);
  std::vector<Vector3> moved, mirrored;
  for (const Vector3& p : reference) {
    moved.push_back({5 - p.y, p.x + 2, p.z - 1});  // rotates by 90 degrees and translates
    mirrored.push_back({p.x, p.y, -p.z});
  }
  const auto length = static_cast<std::int64_t>(reference.size());
  EXPECT_NEAR(ScoreSuperposed(moved, reference, length).tm_score, 1, 1e-9);
  EXPECT_NEAR(ScoreSuperposed(moved, reference, length).gdt_ha, 1, 1e-9);
  EXPECT_LT(ScoreSuperposed(mirrored, reference, length).tm_score, 0.6);
  EXPECT_NEAR(DistanceRootMeanSquare(mirrored, reference), 0, 1e-9);
  const RigidFrame turn = Superpose(mirrored, reference);
  // The determinant of a rotation is 1, and the determinant of a reflection is -1.
  EXPECT_NEAR(Dot(Cross(turn.rows[0], turn.rows[1]), turn.rows[2]), 1, 1e-12);
}

TEST(StructureScores, RefuseResiduesThatDoNotCorrespond) {
  std::vector<Vector3> two(2), three = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  EXPECT_THAT(ErrorOf([&] { ScoreSuperposed(two, two, 2); }), HasSubstr("TM-score needs at least 3"));
  EXPECT_THAT(ErrorOf([&] { ScoreSuperposed(three, three, 2); }), HasSubstr("the reference 3 of 2"));
  EXPECT_THAT(ErrorOf([&] { Superpose(two, three); }), HasSubstr("2 points"));
  three[1].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ErrorOf([&] { ScoreSuperposed(three, three, 3); }), HasSubstr("not finite"));
}

TEST(StructureScores, ResiduesCorrespondByIndexOrNumber) {
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
  EXPECT_EQ(pairs.paired_by, Pairing::number);
  ASSERT_EQ(pairs.model.size(), 1U);
  EXPECT_EQ(pairs.model[0].number, 4);
  EXPECT_EQ(pairs.reference_length, 3);
  EXPECT_THAT(ErrorOf([&] { Correspond(model, reference, Pairing::index); }), HasSubstr("the sequences differ"));
}

// Returns a chain with these letters, numbered from `first`. Consecutive CA atoms are 3.8 A apart along a helix.
ProteinChain ChainOfLetters(std::string_view letters, int first) {
  ProteinChain chain{"A", {}};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    Residue residue;
    residue.type = ResidueOfLetter(letters[i]).value();
    residue.number = first + static_cast<int>(i);
    residue.known[1] = true;
    const double angle = 1.745 * static_cast<double>(i);
    residue.atoms[1] = {2.3 * std::cos(angle), 2.3 * std::sin(angle), 1.5 * static_cast<double>(i)};
    chain.residues.push_back(residue);
  }
  return chain;
}

TEST(StructureScores, TheAlignmentIsUsedIfNumbersPairDifferentResidues) {
  const ProteinChain reference = ChainOfLetters("MKVLAEYTWGRDAACFHIKL", 1);
  // The model's residue numbers are 3 higher, and its last four residues are missing.
  ProteinChain model = ChainOfLetters("MKVLAEYTWGRDAACF", 4);
  Correspondence pairs = Correspond(model, reference);
  EXPECT_EQ(pairs.paired_by, Pairing::alignment);
  EXPECT_GT(pairs.different, 10);
  ASSERT_EQ(pairs.model.size(), 16U);
  EXPECT_EQ(pairs.reference_length, 20);
  for (std::size_t i = 0; i < pairs.model.size(); ++i) EXPECT_EQ(pairs.model[i].type, pairs.reference[i].type) << i;
  EXPECT_EQ(Correspond(model, reference, Pairing::number).model.size(), 16U);
  EXPECT_EQ(Correspond(model, reference, Pairing::number).paired_by, Pairing::number);
  // Now the model and the reference have no residue numbers in common.
  for (Residue& residue : model.residues) residue.number += 500;
  pairs = Correspond(model, reference);
  EXPECT_EQ(pairs.paired_by, Pairing::alignment);
  EXPECT_EQ(pairs.model.size(), 16U);
  // After a mutation, pairing by number is still correct.
  model = ChainOfLetters("AKVLAEYTWGRDAACFHIKL", 1);
  pairs = Correspond(model, reference);
  EXPECT_EQ(pairs.paired_by, Pairing::number);
  EXPECT_EQ(pairs.model.size(), 20U);
}

// Checks a model that has only the first 10 of 20 residues, at the positions of the reference.
TEST(StructureScores, LocalDistancesCountMissingResidues) {
  const ProteinChain reference = ChainOfLetters("MKVLAEYTWGRDAACFHIKL", 1);
  ProteinChain model = reference;
  model.residues.resize(10);
  const Correspondence pairs = Correspond(model, reference);
  EXPECT_EQ(pairs.model.size(), 10U);
  ASSERT_EQ(pairs.whole_reference.size(), 20U);
  double kept = 0, all = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (Distance(reference.residues[i].atoms[1], reference.residues[j].atoms[1]) >= kLddtInclusion) continue;
      all += 1;
      kept += i < 10 ? 1 : 0;
    }
  }
  const double score = ScoreLocalDistances(pairs.model_or_none, pairs.whole_reference, false).score;
  EXPECT_NEAR(score, kept / all, 1e-12);
  EXPECT_LT(score, 0.6);
  // If a residue has no CA, its other atoms are still compared.
  ProteinChain whole = reference;
  whole.residues[3].known[4] = true;  // O
  whole.residues[3].atoms[4] = whole.residues[3].atoms[1] + Vector3{1, 0, 0};
  ProteinChain without = whole;
  without.residues[3].known[1] = false;
  const Correspondence lacking = Correspond(without, whole);
  EXPECT_EQ(lacking.model.size(), 19U);
  EXPECT_GT(ScoreLocalDistances(lacking.model_or_none, lacking.whole_reference, true).by_residue[3], 0.4);
}

// Checks the seven residues that Mariani et al. list. The symmetric atoms are exchanged in the model.
TEST(StructureScores, SymmetricAtomsMatchThePaper) {
  struct Case {
    char letter;
    std::vector<std::array<const char*, 2>> pairs;
    bool symmetric;
  };
  for (const Case& c : {Case{'D', {{"OD1", "OD2"}}, true}, Case{'E', {{"OE1", "OE2"}}, true},
                        Case{'L', {{"CD1", "CD2"}}, true}, Case{'V', {{"CG1", "CG2"}}, true},
                        Case{'R', {{"NH1", "NH2"}}, true}, Case{'F', {{"CD1", "CD2"}, {"CE1", "CE2"}}, true},
                        Case{'Y', {{"CD1", "CD2"}, {"CE1", "CE2"}}, true}, Case{'N', {{"OD1", "ND2"}}, false}}) {
    const std::string letters = {'A', 'A', c.letter, 'A', 'A'};
    ProteinChain reference = ChainOfLetters(letters, 1), model = reference;
    double offset = 1.5;
    for (const auto& pair : c.pairs) {
      for (std::size_t side = 0; side < 2; ++side) {
        const auto own = static_cast<std::size_t>(Atom37Of(pair[side]).value());
        const auto other = static_cast<std::size_t>(Atom37Of(pair[1 - side]).value());
        const Vector3 at = reference.residues[2].atoms[1] + Vector3{offset, side == 0 ? 1.2 : -1.2, 0};
        reference.residues[2].known[own] = model.residues[2].known[other] = true;
        reference.residues[2].atoms[own] = model.residues[2].atoms[other] = at;
      }
      offset += 1.4;
    }
    const double score = ScoreLocalDistances(model.residues, reference.residues, true).score;
    EXPECT_EQ(score == 1, c.symmetric) << c.letter << " " << score;
  }
}

}  // namespace
}  // namespace headlight::structure_scores_test

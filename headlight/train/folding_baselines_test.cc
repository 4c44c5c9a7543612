#include "headlight/train/folding_baselines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace headlight::folding_baselines_test {
namespace {

// Returns a chain with this many residues. It is a helix or a strand, depending on the rise in angstrom per residue.
ChainExample Made(const std::string& name, std::size_t residues, double rise, int type = 0) {
  ChainExample example = {.name = name, .residues = std::vector<ResidueLabels>(residues), .alignment = {}};
  for (std::size_t i = 0; i < residues; ++i) {
    ResidueLabels& residue = example.residues[i];
    residue.type = type;
    residue.position = static_cast<std::int32_t>(i);
    residue.known[1] = true;
    const double turn = 1.745 * static_cast<double>(i);
    residue.atoms[1] = rise == 1.5 ? Vector3{2.3 * std::cos(turn), 2.3 * std::sin(turn), 1.5 * static_cast<double>(i)}
                                   : Vector3{rise * static_cast<double>(i), i % 2 == 0 ? 0.9 : -0.9, 0};
  }
  return example;
}

TEST(FoldingBaselines, TheBestPrototypeIsMostSimilarToTheOthers) {
  const ChainSet train = {
      .examples = {Made("strand", 30, 3.3), Made("short", 12, 1.5), Made("helix", 30, 1.5), Made("another", 24, 1.5)}};
  const Prototype best = BestPrototype(train);
  EXPECT_EQ(best.name, "helix");
  const BaselineScores same = ScorePrototype(best, {.examples = {Made("helix", 20, 1.5)}});
  EXPECT_NEAR(same.lddt_ca, 1, 1e-9);
  EXPECT_NEAR(same.tm_score, 1, 1e-6);
  // The prototype covers 30 of 40 residues, so its scores are lower. A strand among the chains lowers the mean further.
  const BaselineScores longer = ScorePrototype(best, {.examples = {Made("long", 40, 1.5)}});
  EXPECT_NEAR(longer.tm_score, 30.0 / 40, 1e-6);
  EXPECT_LT(longer.lddt_ca, 0.8);
  const BaselineScores both = ScorePrototype(best, {.examples = {Made("long", 40, 1.5), Made("strand", 30, 3.3)}});
  EXPECT_LT(both.lddt_ca, longer.lddt_ca);
}

TEST(FoldingBaselines, MeanDistancesDependOnSeparationAndTypes) {
  ChainSet train;
  for (int i = 0; i < 1000; ++i) {
    train.examples.push_back(Made("helix", 30, 1.5, 0));
    train.examples.push_back(Made("strand", 30, 3.3, 1));
  }
  const MeanDistances distances(train);
  const ChainExample helix = Made("helix", 30, 1.5, 0), strand = Made("strand", 40, 3.3, 1);
  const std::vector<double> of_helix = distances.Of(helix.residues), of_strand = distances.Of(strand.residues);
  const auto truth = [](const ChainExample& chain, std::size_t i, std::size_t j) {
    return Distance(chain.residues[i].atoms[1], chain.residues[j].atoms[1]);
  };
  EXPECT_NEAR(of_helix[3 * 30 + 7], truth(helix, 3, 7), 0.1);
  EXPECT_NEAR(of_helix[7 * 30 + 3], truth(helix, 3, 7), 0.1);
  EXPECT_NEAR(of_strand[3 * 40 + 7], truth(strand, 3, 7), 0.1);
  EXPECT_EQ(of_strand[3 * 40 + 3], 0);
  EXPECT_EQ(of_strand[39], of_strand[29]);  // separation 39 does not occur in the training set
  const BaselineScores scores = ScoreMeanDistances(distances, {.examples = {helix, helix}});
  EXPECT_GT(scores.lddt_ca, 0.95);
  EXPECT_GT(scores.tm_score, 0.9);
  // Without types, the predicted distances are the mean of a helix and a strand. They fit neither chain.
  for (ChainExample& example : train.examples)
    for (ResidueLabels& residue : example.residues) residue.type = 0;
  EXPECT_LT(ScoreMeanDistances(MeanDistances(train), {.examples = {helix}}).lddt_ca, 0.7);
}

}  // namespace
}  // namespace headlight::folding_baselines_test

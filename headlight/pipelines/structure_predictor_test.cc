#include "headlight/pipelines/structure_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/superposition.h"

namespace headlight::folder_test {
namespace {

using testing::HasSubstr;

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";

AlignmentTable TestAlignment() {
  const std::string path = HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/alignment.a3m";
  return ReadAlignmentTable({&path, 1});
}

std::vector<float> Positions(const PredictedStructure& predicted) {
  std::vector<float> positions;
  for (const Residue& residue : predicted.structure.chains.at(0).residues)
    for (std::size_t atom = 0; atom < kAtom37; ++atom)
      if (residue.known[atom])
        for (const double x : {residue.atoms[atom].x, residue.atoms[atom].y, residue.atoms[atom].z})
          positions.push_back(static_cast<float>(x));
  return positions;
}

// Checks that the structure equals the model's output for features sampled with the seed and the number of the pass.
TEST(StructurePredictor, EqualsTheModelOnItsFeatures) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const AlignmentTable table = TestAlignment();
  const PredictedStructure predicted = folder.Predict(table, {.seed = 3, .recycles = 2, .rows = 5, .extra = 4});
  std::vector<FoldingFeatures> passes;
  for (std::uint64_t pass = 0; pass < 3; ++pass) {
    Random random(3, pass);
    const AlignmentFeatures drawn = FeaturesOf(table, DrawChoices(table, {.rows = 5, .extra = 4}, random));
    std::vector<std::int32_t> places(12);
    std::iota(places.begin(), places.end(), 0);
    passes.push_back({drawn.types, places, drawn.target, drawn.alignment, {}, drawn.extra, {}});
  }
  Context context;
  const FoldingOutputs outputs = folder.model().Fold(context, passes);
  EXPECT_EQ(predicted.pair.ToVector<float>(), outputs.pair.ToVector<float>());
  EXPECT_EQ(predicted.single.ToVector<float>(), outputs.single.ToVector<float>());
  EXPECT_EQ(predicted.plddt, ExpectedLddt(outputs.lddt.matrix<float>()));
  EXPECT_EQ(predicted.errors.ToVector<float>(), ExpectedErrors(outputs.aligned_errors.matrix<float>()));
  EXPECT_EQ(predicted.ptm, ExpectedTmScore(outputs.aligned_errors.matrix<float>(), 12));
  EXPECT_EQ(predicted.passes, 3);
  const Matrix<float> atoms = outputs.structure.blocks.back().atoms.matrix<float>();
  const ProteinChain& chain = predicted.structure.chains.at(0);
  EXPECT_EQ(chain.name, "A");
  EXPECT_EQ(chain.Letters(), "MKVLAEYTWGRD");
  const std::size_t cb = *Atom37Of("CB");
  for (std::size_t i = 0; i < 12; ++i) {
    const Residue& residue = chain.residues[i];
    EXPECT_EQ(residue.number, static_cast<int>(i) + 1);
    const float* const row = atoms.row(static_cast<std::int64_t>(i));
    EXPECT_EQ(residue.atoms[1].y, static_cast<double>(row[4]));  // CA
    EXPECT_EQ(residue.b_factors[1], predicted.plddt[i]);
    EXPECT_EQ(residue.known[cb], residue.name != "GLY");
    if (residue.known[cb]) {
      EXPECT_EQ(residue.atoms[cb].z, static_cast<double>(row[14]));
    }
  }
}

// Checks that the last moment equals the structure that Predict returns, and that the attention weights are from the
// last pass.
TEST(StructurePredictor, RecordsTheStepsOfFolding) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const AlignmentTable table = TestAlignment();
  const PredictOptions options = {.seed = 3, .recycles = 1, .rows = 5, .extra = 4};
  const PredictedStructure predicted = folder.Predict(table, options);
  const StructureRecord record = folder.Look(table, options);
  EXPECT_EQ(record.chain.Letters(), "MKVLAEYTWGRD");
  ASSERT_EQ(record.moments.size(), 4U);  // two blocks in each of two passes
  EXPECT_EQ(record.moments[1].name, "pass 1, block 2");
  const std::vector<Residue>& residues = predicted.structure.chains.at(0).residues;
  for (std::size_t i = 0; i < residues.size(); ++i)
    EXPECT_LT(Distance(record.moments.back().backbone[i][1], residues[i].atoms[1]), 1e-3);
  // Every moment is superposed on the last one: no rigid motion brings it closer.
  const auto alphas = [&](std::size_t moment) {
    std::vector<Vector3> all;
    for (const BackboneAtoms& atoms : record.moments[moment].backbone) all.push_back(atoms[1]);
    return all;
  };
  for (std::size_t moment = 0; moment < 3; ++moment) {
    const RigidFrame motion = Superpose(alphas(moment), alphas(3));
    for (const Vector3& alpha : alphas(moment)) EXPECT_LT(Distance(motion(alpha), alpha), 1e-4);
  }
  EXPECT_EQ(record.errors.values, predicted.errors.ToVector<float>());
  EXPECT_EQ(record.distances.values.size(), 144U);
  // Two Evoformer blocks with three attentions each, and two structure module blocks.
  ASSERT_EQ(record.attention.size(), 8U);
  EXPECT_EQ(record.attention[0].title, "Invariant point attention");
  EXPECT_EQ(record.attention[3].title, "Row attention");
  EXPECT_EQ(record.attention[3].layer, 1);
  for (const ResidueAttention& map : record.attention)
    for (std::size_t row = 0; row < map.weights.size(); row += 12)
      EXPECT_NEAR(std::accumulate(map.weights.begin() + static_cast<std::ptrdiff_t>(row),
                                  map.weights.begin() + static_cast<std::ptrdiff_t>(row) + 12, 0.0),
                  1, 1e-5);
  EXPECT_EQ(folder.Look(table, options, 1).attention.size(), 4U);
  EXPECT_THAT(ErrorOf([&] { folder.Look(table, options, 2); }), HasSubstr("there is no layer 3"));
}

// Checks that hooks only receive the attention of the last pass.
TEST(StructurePredictor, HooksReceiveOnlyTheLastPass) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const AlignmentTable table = TestAlignment();
  Random random(1);
  const FoldingFeatures features =
      FeaturesForModel(FeaturesOf(table, DrawChoices(table, {.rows = 5, .extra = 4}, random)));
  for (const std::size_t passes : {1U, 3U}) {
    int looks = 0;
    Context context;
    context.hooks.residues = [&](const ResidueWeights&) { ++looks; };
    folder.model().Fold(context, std::vector<FoldingFeatures>(passes, features));
    EXPECT_EQ(looks, 8);
  }
}

TEST(StructurePredictor, TheSeedDeterminesTheResult) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const auto predict = [&](std::uint64_t seed) {
    return Positions(folder.Predict(TestAlignment(), {.seed = seed, .recycles = 1, .rows = 4, .extra = 3}));
  };
  const std::vector<float> first = predict(1);
  EXPECT_EQ(first, predict(1));
  EXPECT_NE(first, predict(2));
  std::vector<std::vector<float>> made(4);
  std::vector<std::thread> threads;
  for (auto& one : made) threads.emplace_back([&] { one = predict(1); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : made) EXPECT_EQ(one, first);
}

TEST(StructurePredictor, FoldsASingleSequence) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const PredictedStructure predicted = folder.Predict(TableOfSequence("GXA"), {.recycles = 0});
  const std::vector<Residue>& residues = predicted.structure.chains.at(0).residues;
  ASSERT_EQ(residues.size(), 3U);
  EXPECT_TRUE(residues[0].observed());
  EXPECT_FALSE(residues[1].observed());  // no atoms of an unknown residue are predicted
  EXPECT_EQ(predicted.passes, 1);
  EXPECT_GT(predicted.mean_plddt, 0);
  EXPECT_LT(predicted.mean_plddt, 100);
}

TEST(StructurePredictor, StopsWhenTheStructureHardlyChanges) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const auto passes = [&](double tolerance) {
    return folder.Predict(TestAlignment(), {.recycles = 4, .tolerance = tolerance}).passes;
  };
  EXPECT_EQ(passes(0), 5);
  EXPECT_EQ(passes(1e6), 2);
  EXPECT_EQ(passes(1e-12), 5);
}

TEST(StructurePredictor, ReportsProgressAndCanBeCancelled) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const std::int64_t blocks = folder.model().plan().blocks;
  std::vector<std::int64_t> seen;
  const auto progress = [&](std::int64_t done, std::int64_t most) {
    EXPECT_EQ(most, 3 * blocks);
    seen.push_back(done);
  };
  folder.Predict(TestAlignment(), {.recycles = 2, .progress = progress});
  ASSERT_EQ(std::ssize(seen), 3 * blocks);
  EXPECT_EQ(seen.front(), 1);
  EXPECT_EQ(seen.back(), 3 * blocks);
  int asked = 0;
  EXPECT_THROW(folder.Predict(TestAlignment(), {.cancelled = [&] { return ++asked == 3; }}), Cancelled);
  EXPECT_EQ(asked, 3);
}

TEST(StructurePredictor, ReportsProgressOfTemplateBlocks) {
  const StructurePredictor folder =
      StructurePredictor::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/templates");
  const FoldingPlan plan = folder.model().plan();
  const PredictedStructure alone = folder.Predict(TestAlignment(), {.recycles = 0});
  std::vector<std::int32_t> places(12);
  std::iota(places.begin(), places.end(), 0);
  const std::vector<ProteinTemplate> templates(2, TemplateOf("itself", alone.structure.chains.at(0), places));
  std::int64_t calls = 0, last = 0, all = 0;
  folder.Predict(TestAlignment(),
                 {.recycles = 1, .templates = templates, .progress = [&](std::int64_t done, std::int64_t most) {
                    ++calls;
                    last = done;
                    all = most;
                  }});
  EXPECT_GT(plan.template_blocks, 0);
  EXPECT_EQ(all, 2 * (plan.blocks + 2 * plan.template_blocks));
  EXPECT_EQ(calls, all);
  EXPECT_EQ(last, all);
}

TEST(StructurePredictor, RefusesInvalidInput) {
  const StructurePredictor folder = StructurePredictor::Load(kFolder);
  const auto error_of = [&](const PredictOptions& options) {
    return ErrorOf([&] { folder.Predict(TestAlignment(), options); });
  };
  EXPECT_THAT(error_of({.recycles = -1}), HasSubstr("-1 passes after the first"));
  EXPECT_THAT(error_of({.rows = 0}), HasSubstr("not 0 and"));
  EXPECT_THAT(error_of({.extra = -1}), HasSubstr("not 512 and -1"));
  EXPECT_THAT(error_of({.tolerance = -1}), HasSubstr("a tolerance of -1"));
  EXPECT_THAT(ErrorOf([&] { folder.Predict(TableOfSequence(std::string(46341, 'A'))); }), HasSubstr("46341 residues"));
  EXPECT_THAT(ErrorOf([] { StructurePredictor::Load(kFolder, {.draft = true}); }), HasSubstr("draft"));
  EXPECT_THAT(ErrorOf([] { StructurePredictor::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences"); }),
              HasSubstr("structure prediction model"));
}

}  // namespace
}  // namespace headlight::folder_test

// Overfits a model to one chain of the structures in the folder HEADLIGHT_PROTEINS.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/models/alphafold.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/protein/superposition.h"
#include "headlight/train/objectives/folding.h"
#include "tests/training_testing.h"

namespace headlight::folding_slow_test {
namespace {

// 1zmm is a defensin of 31 residues: a sheet of three strands with three disulfide bridges.
const std::string kFile = "1zmm.pdb";  // file in pdownb150.tar.gz

AlphaFoldConfig TinyAlphaFold() {
  AlphaFoldConfig config;
  config.alignment = config.pair = config.lddt_hidden = 32;
  config.extra = 8;
  config.single = 64;
  config.blocks = 2;
  config.extra_blocks = 1;
  config.evoformer = {.heads = 4, .head_dim = 8, .outer_product = 16, .dropout = 0};
  config.extra_rows = {.heads = 4, .head_dim = 2, .outer_product = 16, .dropout = 0};
  for (EvoformerConfig* const part : {&config.evoformer, &config.extra_rows})
    part->pair = {.channels = 32, .heads = 1, .head_dim = 32, .dropout = 0};
  config.structure = {.angles = 32, .blocks = 4, .dropout = 0};
  config.rows = 1;
  config.most_extra_rows = 0;
  config.recycles = 0;
  return config;
}

// Returns the error after superposition on the structure, in angstrom. The error is computed over the known positions
// of the first `atoms` atoms of atom14.
double Error(const AlphaFold& model, const ChainExample& example, std::size_t atoms) {
  const AlignmentTable table = TableOfSequence(example.Letters());
  Random random(1);
  std::vector<std::int32_t> positions;
  for (const ResidueLabels& residue : example.residues) positions.push_back(residue.position);
  const FoldingFeatures read =
      FeaturesForModel(FeaturesOf(table, DrawChoices(table, {.masked = 0}, random)), positions);
  Context context;
  const auto predicted = AtomsOf(model.Fold(context, std::vector{read}).structure);
  const std::vector<bool> renamed = BetterRenamed(example.residues, predicted);
  std::vector<Vector3> moving, fixed;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const ResidueLabels labels = renamed[i] ? Renamed(example.residues[i]) : example.residues[i];
    for (std::size_t atom = 0; atom < atoms; ++atom) {
      if (!labels.known[atom]) continue;
      moving.push_back(predicted[i][atom]);
      fixed.push_back(labels.atoms[atom]);
    }
  }
  const RigidFrame motion = Superpose(moving, fixed);
  for (Vector3& point : moving) point = motion(point);
  return RootMeanSquare(moving, fixed);
}

TEST(FoldingTraining, OverfitsOneChain) {
  const char* const proteins = std::getenv("HEADLIGHT_PROTEINS");
  if (proteins == nullptr) GTEST_SKIP() << "HEADLIGHT_PROTEINS names no folder";
  const TemporaryFolder folder;
  const std::string extract =
      "tar xzf " + std::string(proteins) + "/pdownb150.tar.gz -C " + folder.path() + " " + kFile;
  ASSERT_EQ(std::system(extract.c_str()), 0);
  const ChainSet chains = ReadChainSet({folder.File(kFile)}, ReadStructure);
  AlphaFold model(TinyAlphaFold());
  model.parameters().Initialize(1);
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = 50, .peak = 3e-3, .total = 1200};
  options.adam = {.beta2 = 0.999, .epsilon = 1e-6, .clip_norm = 1};
  options.steps = options.validate_every = options.schedule.total;
  const ValidationReport last = LastReport(FoldingTask(model, chains, chains, {.batches = {.batch_size = 1}}), options,
                                           folder.File("checkpoint"));
  EXPECT_GT(last.score, 0.95);
  EXPECT_LT(Error(model, chains.examples.front(), 4), 0.5);  // atoms N, CA, C and O
  EXPECT_LT(Error(model, chains.examples.front(), kAtom14), 1.0);
}

}  // namespace
}  // namespace headlight::folding_slow_test

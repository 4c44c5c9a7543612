// Tests the training of a structure prediction model on synthetic chains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/train/gradients.h"
#include "headlight/train/objectives/folding.h"
#include "headlight/train/optimizer.h"
#include "tests/folding_testing.h"
#include "tests/training_testing.h"

namespace headlight::folding_training_test {
namespace {

using testing::HasSubstr;

const std::string kLetters = "MARNDCQEGHILKFPSTWYVDFEY";

ChainExample Example(const std::string& letters, std::uint64_t seed) {
  return {.name = letters, .residues = LabelsOf(MadeChain(letters, seed)), .alignment = {}};
}

ChainSet Chains() {
  return {.examples = {Example(kLetters, 1), Example("GSTFYWKRHDEAVLIM", 2), Example("ACDEFGHIKLMNPQRSTVWY", 3)}};
}

// Returns a prediction that equals the chain.
FoldedStructure Exactly(const ProteinChain& chain) {
  std::vector<float> frames, group_frames, atoms, torsions;
  const auto append = [](std::vector<float>& numbers, const Vector3& point) {
    for (const double number : {point.x, point.y, point.z}) numbers.push_back(static_cast<float>(number));
  };
  for (const ResidueLabels& residue : LabelsOf(chain)) {
    const auto& [r0, r1, r2] = residue.frames[0].rows;
    const auto half = [](double squares, double sign) {
      return static_cast<float>(std::copysign(std::sqrt(std::max(0.0, 1 + squares)) / 2, sign));
    };
    frames.insert(frames.end(), {half(r0.x + r1.y + r2.z, 1), half(r0.x - r1.y - r2.z, r2.y - r1.z),
                                 half(r1.y - r0.x - r2.z, r0.z - r2.x), half(r2.z - r0.x - r1.y, r1.x - r0.y)});
    append(frames, residue.frames[0].origin);
    for (const RigidFrame& frame : residue.frames) {
      for (const Vector3& row : frame.rows) append(group_frames, row);
      append(group_frames, frame.origin);
    }
    for (const Vector3& atom : residue.atoms) append(atoms, atom);
    for (const auto& torsion : residue.torsions)
      for (const double part : torsion) torsions.push_back(static_cast<float>(part));
  }
  const auto rows = [&](const std::vector<float>& numbers) {
    const std::int64_t residues = std::ssize(chain.residues);
    return Tensor::From<float>(numbers, {residues, std::ssize(numbers) / residues});
  };
  return {.blocks = {{rows(frames), rows(group_frames), rows(atoms), rows(torsions), rows(torsions), rows(frames)}},
          .single = rows(frames)};
}

// Returns the loss of a fixed prediction with `chain` as the label. The prediction has random logits and a structure
// close to the first synthetic chain.
double LossFor(const ProteinChain& chain) {
  FoldingLabels labels = {.residues = LabelsOf(chain), .letters = {}, .clamped_share = 0.9};
  const std::int64_t residues = std::ssize(labels.residues);
  for (const ResidueLabels& residue : labels.residues) labels.letters.push_back(residue.type);
  Random random(1);
  const auto logits = [&](std::int64_t rows, std::int64_t columns) {
    const Tensor made = Tensor::Empty({rows, columns});
    for (float& value : made.span<float>()) value = static_cast<float>(random.Normal());
    return made;
  };
  FoldingOutputs outputs;
  outputs.structure = Exactly(MadeChain(kLetters, 1));
  outputs.single = outputs.structure.single;
  outputs.distances = logits(residues * residues, 8);
  outputs.aligned_errors = logits(residues * residues, 8);
  outputs.lddt = logits(residues, 8);
  outputs.letters = logits(residues, 23);
  outputs.resolved = logits(residues, kAtom37);
  for (float& value : outputs.structure.blocks.front().atoms.span<float>())
    value += static_cast<float>(0.3 * random.Normal());
  return static_cast<double>(FoldingLoss(outputs, labels, {.resolved = 0.01, .violations = 1}, 1).data<float>()[0]);
}

TEST(FoldingTraining, TheLossIsInvariantToRigidMotions) {
  const ProteinChain chain = MadeChain(kLetters, 1);
  const double loss = LossFor(chain);
  const RigidFrame motion = {{Vector3{0.36, 0.48, -0.8}, Vector3{-0.8, 0.6, 0}, Vector3{0.48, 0.64, 0.6}},
                             {30, -20, 10}};
  EXPECT_NEAR(LossFor(Moved(chain, motion)) / loss, 1, 1e-5);
  const double mirrored = LossFor(Moved(chain, [](const Vector3& p) { return Vector3{p.x, p.y, -p.z}; }));
  EXPECT_GT(mirrored / loss, 1.01);
}

std::vector<double> Losses(int steps, std::uint64_t seed) {
  const ChainSet chains = Chains();
  AlphaFold model(SmallAlphaFold());
  model.parameters().Initialize(seed);
  const TrainingTask task =
      FoldingTask(model, chains, chains, {.batches = {.batch_size = 3, .seed = seed}, .crop = 18});
  Optimizer optimizer({.beta2 = 0.999, .epsilon = 1e-6}, model.parameters());
  model.parameters().PrepareTraining();
  const auto next = task.batches({});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const TrainingBatch batch = next();
    EXPECT_EQ(batch.labels, 3);
    EXPECT_EQ(batch.parts.size(), 3U);
    losses.push_back(ComputeGradients(model.parameters(), task.loss, batch.parts,
                                      {.labels = batch.labels, .seed = seed, .clip_part_norm = 1}));
    optimizer.Step(model.parameters(), 5e-3);
  }
  return losses;
}

TEST(FoldingTraining, FitsAFewChains) {
  const std::vector<double> losses = Losses(40, 1);
  EXPECT_LT(losses.back(), 0.7 * losses.front());
}

TEST(FoldingTraining, HasTheSameBitsWithAnyNumberOfThreads) {
  const int before = Threads();
  SetThreads(1);
  const std::vector<double> one = Losses(3, 2);
  SetThreads(3);
  EXPECT_EQ(Losses(3, 2), one);
  SetThreads(before);
}

// Checks that a batch stream resumes at any position with the same crops, masks and passes.
TEST(FoldingTraining, ResumesWithTheSameChoices) {
  const ChainSet chains = Chains();
  AlphaFold model(SmallAlphaFold());
  model.parameters().Initialize(1);
  const TrainingTask task = FoldingTask(model, chains, chains, {.batches = {.batch_size = 2}, .crop = 18});
  const auto loss_of = [&](const TrainingBatch& batch) {
    double sum = 0;
    for (const TrainingPart& part : batch.parts) {
      Context context;
      sum += static_cast<double>(task.loss(context, Made(part), 1).data<float>()[0]);
    }
    return sum;
  };
  const auto from_start = task.batches({});
  std::vector<double> losses;
  BatchPosition after_second;
  for (int i = 0; i < 4; ++i) {
    const TrainingBatch batch = from_start();
    losses.push_back(loss_of(batch));
    if (i == 1) after_second = batch.next;
  }
  EXPECT_EQ(after_second, (BatchPosition{1, 0}));
  EXPECT_NE(losses[0] + losses[1], losses[2] + losses[3]);
  const auto resumed = task.batches(after_second);
  for (int i = 2; i < 4; ++i) EXPECT_EQ(loss_of(resumed()), losses[static_cast<std::size_t>(i)]);
}

TEST(FoldingTraining, ValidatesTheSameEachTime) {
  const ChainSet chains = Chains();
  AlphaFold model(SmallAlphaFold());
  model.parameters().Initialize(1);
  model.parameters().Pack();
  const ValidationReport report = MeanScores(ScoreFolding(model, chains, {})),
                         again = MeanScores(ScoreFolding(model, chains, {}));
  EXPECT_EQ(report.score_name, "lddt_ca");
  EXPECT_GE(report.score, 0);
  EXPECT_LE(report.score, 1);
  ASSERT_EQ(report.more_scores.size(), 2U);
  EXPECT_EQ(report.more_scores.front().name, "tm_score");
  EXPECT_GT(report.more_scores.front().value, 0);
  EXPECT_EQ(report.labels, 3);
  EXPECT_EQ(report.loss, again.loss);
  EXPECT_EQ(report.score, again.score);
}

TEST(FoldingTraining, RefusesASetWithoutChains) {
  AlphaFold model(SmallAlphaFold());
  const ChainSet chains = Chains(), none;
  EXPECT_THAT(ErrorOf([&] { FoldingTask(model, none, chains, {}); }), HasSubstr("no chain to train on"));
  EXPECT_THAT(ErrorOf([&] { FoldingTask(model, chains, none, {}); }), HasSubstr("no chain to validate on"));
  EXPECT_THAT(ErrorOf([&] { FoldingTask(model, chains, chains, {.batches = {}, .crop = 0}); }),
              HasSubstr("1 residue, not 0"));
}

}  // namespace
}  // namespace headlight::folding_training_test

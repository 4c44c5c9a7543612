// Compares structure labels and AlphaFold 2's losses with OpenFold. tools/make_folding_loss_goldens.py describes the
// goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/protein/nn/folding_loss.h"
#include "headlight/protein/nn/structure_violations.h"
#include "headlight/protein/structure_labels.h"
#include "tests/alphafold_testing.h"
#include "tests/parity_testing.h"

namespace headlight::folding_loss_parity_test {
namespace {

using testing::HasSubstr;

const std::string kFile = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/loss.safetensors";

std::vector<std::int32_t> Integers(const Safetensors& file, const std::string& name) {
  return file.Read(name, DType::int32).ToVector<std::int32_t>();
}

ProteinChain ChainOf(const Safetensors& file) {
  const std::vector<std::int32_t> types = Integers(file, "aatype"), numbers = Integers(file, "residue_index");
  const Numbers positions = ToDouble(file.Read("all_atom_positions", DType::float64));
  const Numbers mask = ToDouble(file.Read("all_atom_mask", DType::float64));
  ProteinChain chain;
  for (std::size_t i = 0; i < types.size(); ++i) {
    Residue residue = ResidueAt(i, types[i], positions, mask);
    residue.number = numbers[i];
    chain.residues.push_back(residue);
  }
  return chain;
}

void Append(Numbers& numbers, const Vector3& v) { numbers.insert(numbers.end(), {v.x, v.y, v.z}); }

// Returns the golden's values. Values whose mask element is 0 are set to 0. Each mask element covers `width` values.
Numbers Masked(const Safetensors& file, const std::string& name, const std::string& mask, std::size_t width) {
  Numbers values = ToDouble(file.Read(name, DType::float64));
  const Numbers known = ToDouble(file.Read(mask, DType::float64));
  EXPECT_EQ(values.size(), known.size() * width) << name;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= known[i / width];
  return values;
}

TEST(StructureLabels, EqualOpenFolds) {
  const Safetensors file(kFile);
  const std::vector<ResidueLabels> residues = LabelsOf(ChainOf(file));
  Numbers atoms, alt_atoms, known, alt_known, frames, alt_frames, frame_known, torsions, alt_torsions, torsion_known,
      beta, beta_known;
  std::vector<std::int32_t> residue_index;
  for (const ResidueLabels& labels : residues) {
    const ResidueLabels renamed = Renamed(labels);
    residue_index.push_back(labels.position);
    for (std::size_t i = 0; i < kAtom14; ++i) {
      Append(atoms, labels.atoms[i]);
      Append(alt_atoms, renamed.atoms[i]);
      known.push_back(labels.known[i]);
      alt_known.push_back(renamed.known[i]);
    }
    for (std::size_t i = 0; i < kRigidGroups; ++i) {
      frame_known.push_back(labels.frame_known[i]);
      for (const auto& [its, to] : {std::pair(&labels, &frames), std::pair(&renamed, &alt_frames)}) {
        if (!labels.frame_known[i]) {
          to->insert(to->end(), 12, 0);
          continue;
        }
        for (const Vector3& row : its->frames[i].rows) Append(*to, row);
        Append(*to, its->frames[i].origin);
      }
    }
    for (std::size_t i = 0; i < 7; ++i) {
      torsion_known.push_back(labels.torsion_known[i]);
      torsions.insert(torsions.end(), labels.torsions[i].begin(), labels.torsions[i].end());
      alt_torsions.insert(alt_torsions.end(), renamed.torsions[i].begin(), renamed.torsions[i].end());
    }
    Append(beta, labels.beta);
    beta_known.push_back(labels.beta_known);
  }
  constexpr double kTolerance = 1e-6;
  const auto same = [&](const Numbers& actual, const char* name, const char* mask, std::size_t width) {
    EXPECT_LT(Deviation(actual, Masked(file, name, mask, width)), kTolerance) << name;
  };
  same(atoms, "atom14_gt_positions", "atom14_gt_exists", 3);
  same(alt_atoms, "atom14_alt_gt_positions", "atom14_alt_gt_exists", 3);
  same(known, "atom14_gt_exists", "atom14_gt_exists", 1);
  same(alt_known, "atom14_alt_gt_exists", "atom14_alt_gt_exists", 1);
  same(frames, "frames", "frames_exist", 12);
  same(alt_frames, "alt_frames", "frames_exist", 12);
  same(frame_known, "frames_exist", "frames_exist", 1);
  same(torsions, "torsions", "torsion_mask", 2);
  same(alt_torsions, "alt_torsions", "torsion_mask", 2);
  same(torsion_known, "torsion_mask", "torsion_mask", 1);
  same(beta, "pseudo_beta", "pseudo_beta_mask", 3);
  same(beta_known, "pseudo_beta_mask", "pseudo_beta_mask", 1);
  EXPECT_EQ(residue_index, Integers(file, "residue_index"));
}

FoldingLabels LabelsOf(const Safetensors& file) {
  FoldingLabels labels;
  labels.residues = LabelsOf(ChainOf(file));
  labels.letters = Integers(file, "true_msa");
  const Numbers masked = ToDouble(file.Read("bert_mask", DType::float64));
  for (std::size_t i = 0; i < masked.size(); ++i)
    if (masked[i] == 0) labels.letters[i] = -1;
  labels.clamped_share = 0.7;
  return labels;
}

constexpr FoldingLossWeights kWeights = {.resolved = 0.01, .violations = 1};

class FoldingLossParity : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, FoldingLossParity, testing::Values(DType::float32, DType::float64),
                         [](const auto& which) { return std::string(Name(which.param)); });

TEST_P(FoldingLossParity, EqualsOpenFolds) {
  const Safetensors file(kFile);
  const double tolerance = GetParam() == DType::float64 ? 1e-6 : 1e-4;
  Tape tape;
  std::vector<std::pair<std::string, Tensor>> inputs;
  const auto input = [&](const std::string& name, std::int64_t columns) {
    const Tensor stored = file.Read(name, GetParam());
    inputs.emplace_back(name, tape.Watch(stored.ViewAs({stored.elements() / columns, columns})));
    return inputs.back().second;
  };
  FoldingOutputs outputs;
  for (const std::string block : {".0", ".1"}) {
    StructureBlock made;
    made.frames = input("frames" + block, 7);
    made.torsions = input("angles" + block, 14);
    made.unnormalized_torsions = input("unnormalized_angles" + block, 14);
    outputs.structure.blocks.push_back(made);
  }
  outputs.structure.blocks.back().group_frames = input("group_frames", 8 * 12);
  outputs.structure.blocks.back().atoms = input("atoms", 3 * kAtom14);
  constexpr std::int64_t kBins = 9;
  outputs.distances = input("distogram", kBins);
  outputs.aligned_errors = input("tm", kBins);
  outputs.lddt = input("lddt", kBins);
  outputs.letters = input("msa", 23);
  outputs.resolved = input("resolved", kAtom37);
  outputs.single = outputs.structure.single = Tensor::Zeros({outputs.lddt.rows(), 1}, GetParam());

  const FoldingLabels labels = LabelsOf(file);
  const FoldingLosses losses = LossesOf(outputs, labels, kWeights);
  const auto same = [&](const Tensor& loss, const std::string& name) {
    EXPECT_LT(Deviation(ToDouble(loss), ToDouble(file.Read(name, DType::float64))), tolerance) << name;
  };
  same(ops::Scale(ops::Add(losses.backbone, losses.side_chains), 0.5), "loss.fape");
  same(losses.torsions, "loss.supervised_chi");
  same(losses.distances, "loss.distogram");
  same(losses.letters, "loss.masked_msa");
  same(losses.lddt, "loss.plddt_loss");
  same(losses.aligned_errors, "loss.tm");
  same(losses.resolved, "loss.experimentally_resolved");
  same(losses.violations, "loss.violation");

  const Tensor loss = FoldingLoss(outputs, labels, kWeights, 1);
  same(loss, "loss");
  tape.Backward(loss);
  for (const auto& [name, tensor] : inputs)
    EXPECT_LT(Deviation(ToDouble(tape.GradientOf(tensor)), ToDouble(file.Read("d_" + name, DType::float64))), tolerance)
        << name;
}

// Compares the smooth lDDT loss of C alphas with its definition (AlphaFold 3, algorithm 27). The loss is the mean over
// the blocks, and has a weight in the total loss.
TEST(FoldingLoss, HasTheSmoothLddt) {
  const Safetensors file(kFile);
  const FoldingLabels labels = LabelsOf(file);
  FoldingOutputs outputs;
  Numbers at[2];  // a quaternion and a translation per residue
  for (const std::size_t block : {0, 1}) {
    const Tensor frames = file.Read(block == 0 ? "frames.0" : "frames.1", DType::float64);
    at[block] = ToDouble(frames);
    outputs.structure.blocks.emplace_back().frames = frames.ViewAs({frames.elements() / 7, 7});
  }
  StructureBlock& last = outputs.structure.blocks.back();
  const auto read = [&](const std::string& name, std::int64_t columns) {
    const Tensor stored = file.Read(name, DType::float64);
    return stored.ViewAs({stored.elements() / columns, columns});
  };
  for (StructureBlock& block : outputs.structure.blocks) {
    block.torsions = read("angles.1", 14);
    block.unnormalized_torsions = read("unnormalized_angles.1", 14);
  }
  last.group_frames = read("group_frames", 8 * 12);
  last.atoms = read("atoms", 3 * kAtom14);
  outputs.distances = read("distogram", 9);
  outputs.lddt = read("lddt", 9);
  outputs.letters = read("msa", 23);
  outputs.resolved = read("resolved", kAtom37);
  outputs.single = outputs.structure.single = Tensor::Zeros({outputs.lddt.rows(), 1}, DType::float64);

  double wrong = 0, pairs = 0;
  for (std::size_t i = 0; i < labels.residues.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const ResidueLabels &a = labels.residues[i], &b = labels.residues[j];
      const Vector3 apart = a.frames[0].origin - b.frames[0].origin;
      const double truth = std::sqrt(Dot(apart, apart));
      if (!a.frame_known[0] || !b.frame_known[0] || truth >= 15) continue;
      for (const Numbers& of : at) {
        const double distance =
            std::hypot(of[7 * i + 4] - of[7 * j + 4], of[7 * i + 5] - of[7 * j + 5], of[7 * i + 6] - of[7 * j + 6]);
        pairs += 1;
        for (const double step : {0.5, 1.0, 2.0, 4.0})
          wrong += 0.25 / (1 + std::exp(step - std::abs(distance - truth)));
      }
    }
  }
  ASSERT_GT(pairs, 20);
  EXPECT_TRUE(LossesOf(outputs, labels, {}).smooth_lddt.empty());
  EXPECT_NEAR(ToDouble(LossesOf(outputs, labels, {.smooth_lddt = 1}).smooth_lddt)[0], wrong / pairs, 1e-4);
  const auto sum = [&](double weight) {
    return ToDouble(FoldingLoss(outputs, labels, {.smooth_lddt = weight}, 1))[0] /
           std::sqrt(static_cast<double>(labels.residues.size()));
  };
  EXPECT_NEAR(sum(4) - sum(0), 4 * wrong / pairs, 1e-3);
}

TEST(FoldingLoss, RenamesAmbiguousAtomsLikeOpenFold) {
  const Safetensors file(kFile);
  FoldedStructure structure;
  structure.blocks.push_back({});
  const Tensor atoms = file.Read("atoms", DType::float64);
  structure.blocks.back().atoms = atoms.ViewAs({atoms.shape()[0], 3 * kAtom14});
  const std::vector<bool> better = BetterRenamed(LabelsOf(ChainOf(file)), AtomsOf(structure));
  const Numbers expected = ToDouble(file.Read("alt_naming_is_better", DType::float64));
  EXPECT_EQ(Numbers(better.begin(), better.end()), expected);
  EXPECT_GT(std::count(better.begin(), better.end(), true), 0);
}

TEST(FoldingLoss, RefusesLabelsOfWrongShape) {
  EXPECT_THAT(ErrorOf([] {
                ViolationLoss(Tensor::Zeros({2, 3 * kAtom14}), std::vector<ResidueLabels>(3));
              }),
              HasSubstr("[2, 42] for 3 residues"));
  FoldingOutputs outputs;
  outputs.single = Tensor::Zeros({2, 1});
  outputs.letters = Tensor::Zeros({4, 23});
  outputs.structure.blocks.emplace_back();
  EXPECT_THAT(ErrorOf([&] {
                LossesOf(outputs, {.residues = std::vector<ResidueLabels>(3), .letters = {1, 2}}, {});
              }),
              HasSubstr("labels have 3 residues"));
}

}  // namespace
}  // namespace headlight::folding_loss_parity_test

#include "headlight/protein/nn/frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/view.h"
#include "headlight/protein/residues.h"

namespace headlight::frames_test {
namespace {

void ExpectNumbers(const Tensor& actual, const std::vector<double>& expected) {
  const std::vector<double> numbers = actual.ToVector<double>();
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 1e-12) << i;
}

// Checks a rotation by 90 degrees around the z axis, which is the quaternion (1, 0, 0, 1) / sqrt(2).
TEST(Frames, RotateAndTranslateInLocalCoordinates) {
  const Tensor start = IdentityFrames(1, DType::float64);
  const Tensor turned = UpdateFrames(start, Tensor::From<double>({0, 0, 1, 2, 0, 0}, {1, 6}));
  ExpectNumbers(turned, {std::sqrt(0.5), 0, 0, std::sqrt(0.5), 2, 0, 0});
  ExpectNumbers(FrameMatrices(turned), {0, -1, 0, 1, 0, 0, 0, 0, 1, 2, 0, 0});
  // After the rotation, the local x axis is the global y axis.
  const Tensor moved = UpdateFrames(turned, Tensor::From<double>({0, 0, 0, 3, 0, 1}, {1, 6}));
  ExpectNumbers(ops::Columns(moved, 4, 3), {2, 3, 1});
  ExpectNumbers(ops::Columns(ScaleTranslations(moved, 10), 4, 3), {20, 30, 10});
}

TEST(Frames, Gradients) {
  const Tensor frames = RandomTensor({3, 7}, 1), updates = RandomTensor({3, 6}, 2);
  const auto matrices = [](const std::vector<Tensor>& in) { return FrameMatrices(in[0]); };
  const auto updated = [](const std::vector<Tensor>& in) { return UpdateFrames(in[0], in[1]); };
  const auto scaled = [](const std::vector<Tensor>& in) { return ScaleTranslations(in[0], 10); };
  EXPECT_EQ("", CheckGradients(matrices, {frames}));
  EXPECT_EQ("", CheckGradients(updated, {frames, updates}));
  EXPECT_EQ("", CheckGradients(scaled, {frames}));
  // The gradient flows only through translations. The gradient of rotations is 0, unlike their finite difference.
  const auto stopped = [](const std::vector<Tensor>& in) { return StopRotationGradient(in[0]); };
  EXPECT_NE("", CheckGradients(stopped, {frames}));
  const Tensor fixed = ops::Columns(frames, 0, 4);
  const auto of_translations = [&](const std::vector<Tensor>& in) {
    return StopRotationGradient(ops::ConcatenateColumns(fixed, in[0]));
  };
  EXPECT_EQ("", CheckGradients(of_translations, {RandomTensor({3, 3}, 3)}));
}

std::vector<std::int32_t> AllTypes() {
  std::vector<std::int32_t> types;
  for (std::int32_t type = 0; type < kResidueTypes; ++type) types.push_back(type);
  return types;
}

TEST(PlaceAtoms, KeepsBackbonePositions) {
  const std::vector<std::int32_t> types = AllTypes();
  const Tensor backbones = Tensor::Zeros({kResidueTypes, 12}, DType::float64),
               torsions = Tensor::Zeros({kResidueTypes, 14}, DType::float64);
  for (const std::int64_t diagonal : {0, 4, 8}) backbones.ViewColumns(diagonal, 1).Fill(1);
  backbones.ViewColumns(9, 1).Fill(5);
  for (std::int64_t torsion = 0; torsion < 7; ++torsion) torsions.ViewColumns(2 * torsion + 1, 1).Fill(1);
  const ResidueGeometry placed = PlaceAtoms(backbones, torsions, types);
  for (std::size_t type = 0; type < kUnknownResidue; ++type) {
    const double* const atoms = placed.atoms.matrix<double>().row(static_cast<std::int64_t>(type));
    for (const ResidueAtom& atom : ResidueTypes()[type].atoms) {
      if (atom.group != 0) continue;
      const auto at = static_cast<std::size_t>(3 * (&atom - ResidueTypes()[type].atoms.data()));
      EXPECT_NEAR(atoms[at], atom.position.x + 5, 1e-6) << ResidueTypes()[type].name << " " << atom.name;
      EXPECT_NEAR(atoms[at + 1], atom.position.y, 1e-6) << ResidueTypes()[type].name << " " << atom.name;
    }
    // Bond lengths do not depend on the torsions, since the tables have ideal geometry.
    for (const Bond& bond : ResidueTypes()[type].bonds) {
      if (ResidueTypes()[type].letter == 'P') continue;  // proline's ring closes only at certain torsions
      double squares = 0;
      for (int axis = 0; axis < 3; ++axis)
        squares += std::pow(atoms[3 * bond.first + axis] - atoms[3 * bond.second + axis], 2);
      EXPECT_NEAR(std::sqrt(squares), bond.length, 0.05) << ResidueTypes()[type].name;
    }
  }
}

TEST(PlaceAtoms, Gradients) {
  for (const std::int32_t type : {1, 7, 18, 20}) {  // ARG, GLY, TYR, X
    const std::vector<std::int32_t> types = {type};
    const auto f = [&](const std::vector<Tensor>& in) {
      const ResidueGeometry placed = PlaceAtoms(in[0], in[1], types);
      return ops::ConcatenateColumns(placed.group_frames, placed.atoms);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({1, 12}, 1), RandomTensor({1, 14}, 2)}));
  }
}

TEST(PlaceAtoms, RefusesInvalidTypes) {
  const Tensor backbones = Tensor::Zeros({1, 12}), torsions = Tensor::Zeros({1, 14});
  EXPECT_THROW(PlaceAtoms(backbones, torsions, std::vector<std::int32_t>{21}), Error);
  EXPECT_THROW(PlaceAtoms(backbones, torsions, std::vector<std::int32_t>{-1}), Error);
  EXPECT_THROW(PlaceAtoms(backbones, torsions, std::vector<std::int32_t>{1, 2}), Error);
}

}  // namespace
}  // namespace headlight::frames_test

#include "headlight/protein/nn/evoformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/view.h"

namespace headlight::evoformer_test {
namespace {

constexpr std::int64_t kRows = 2, kResidues = 3;

EvoformerConfig Tiny(bool global_columns) {
  return {.alignment = 4,
          .heads = 1,
          .head_dim = 2,
          .outer_product = 2,
          .transition = 2,
          .dropout = 0.3,
          .global_columns = global_columns,
          .pair = {.pair = 3, .channels = 2, .heads = 1, .head_dim = 2, .transition = 2, .dropout = 0.3}};
}

// A stack of two blocks with random parameters, since some parameters of a new model are zero.
struct Blocks {
  explicit Blocks(bool global_columns) : parameters(DType::float64), stack(Scope(parameters), Tiny(global_columns), 2) {
    parameters.Allocate();
    std::uint64_t seed = 1;
    for (Parameter& parameter : parameters.all()) parameter.value.CopyFrom(RandomTensor(parameter.shape, ++seed));
  }
  Parameters parameters;
  EvoformerStack stack;
};

Context Training(std::uint64_t seed) {
  Context context;
  context.training = {.seed = seed};
  return context;
}

const Tensor kAlignment = RandomTensor({kRows * kResidues, 4}, 1), kPairs = RandomTensor({kResidues * kResidues, 3}, 2);

// Checks that recomputed blocks use the same dropout masks.
TEST(Evoformer, GradientsWithDropoutAndAbsentCells) {
  const auto marks = std::make_shared<std::vector<std::uint8_t>>(std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1});
  for (const bool global_columns : {false, true}) {
    const Blocks blocks(global_columns);
    const auto f = [&](const std::vector<Tensor>& in) {
      Context context = Training(5);
      context.tape = in[0].node() == nullptr ? nullptr : in[0].node()->tape;
      const FoldingState after = blocks.stack(context, {in[0], in[1]}, AlignmentGrid(kRows, kResidues, marks));
      return ops::Concatenate(ops::Columns(after.alignment, 0, 3), after.pair);
    };
    EXPECT_EQ("", CheckGradients(f, {kAlignment, kPairs}));
  }
}

// Checks that the hook receives the attention weights of each block: row attention and triangle attention around either
// node, averaged over a residue's pairs.
TEST(Evoformer, ReportsAttentionOfResidues) {
  const Blocks blocks(/*global_columns=*/false);
  std::vector<ResidueWeights> looks;
  Context context;
  context.hooks.residues = [&](const ResidueWeights& look) { looks.push_back(look); };
  blocks.stack(context, {kAlignment, kPairs}, AlignmentGrid(kRows, kResidues));
  ASSERT_EQ(looks.size(), 6U);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(looks[i].kind), i % 3);
    ASSERT_EQ(looks[i].weights.shape(), (Shape{1, 1, kResidues, kResidues}));
    for (std::int64_t residue = 0; residue < kResidues; ++residue) {
      const double* const row = looks[i].weights.data<double>() + residue * kResidues;
      EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-12);
    }
  }
}

// Checks which pair's bias is used. With zero queries and keys, only the bias determines the weights.
TEST(TriangleAttention, ReportsTheSharedNode) {
  constexpr std::int64_t residues = 2;
  for (const auto node : {TriangleAttention::Node::starting, TriangleAttention::Node::ending}) {
    Parameters parameters(DType::float64);
    const TriangleAttention attention(Scope(parameters), 3, 1, 2, node);
    parameters.Allocate();
    for (Parameter& parameter : parameters.all()) {
      parameter.value.Fill(0);
      const std::string& name = parameter.names.front();
      if (name == "layer_norm.weight") parameter.value.Fill(1);
      if (name == "linear.weight")
        parameter.value.data<double>()[0] = 1;  // the bias is the first value of the normalized pair
    }
    // The bias is computed from pair (j, k) around the starting node, and from pair (k, i) around the ending node.
    const bool starting = node == TriangleAttention::Node::starting;
    const Tensor pairs = RandomTensor({residues * residues, 3}, 7);
    ResidueWeights look;
    Context context;
    context.hooks.residues = [&](const ResidueWeights& seen) { look = seen; };
    attention(context, pairs, AlignmentGrid(1, residues));
    EXPECT_EQ(look.kind, starting ? ResidueAttentionKind::starting_node : ResidueAttentionKind::ending_node);
    const auto bias = [&](std::int64_t j, std::int64_t k) {
      const double* const pair = pairs.matrix<double>().row(starting ? j * residues + k : k * residues + j);
      const double mean = (pair[0] + pair[1] + pair[2]) / 3;
      double variance = 1e-5;
      for (int c = 0; c < 3; ++c) variance += (pair[c] - mean) * (pair[c] - mean) / 3;
      return (pair[0] - mean) / std::sqrt(variance);
    };
    for (std::int64_t k = 0; k < residues; ++k) {
      double expected = 0;  // equal for all residues, since queries and keys are 0
      for (std::int64_t j = 0; j < residues; ++j)
        expected += std::exp(bias(j, k)) / (std::exp(bias(j, 0)) + std::exp(bias(j, 1))) / residues;
      for (std::int64_t residue = 0; residue < residues; ++residue)
        EXPECT_NEAR(look.weights.data<double>()[residue * residues + k], expected, 1e-9);
    }
  }
}

TEST(Evoformer, IsTheSameWithAndWithoutATape) {
  const Blocks blocks(/*global_columns=*/false);
  const AlignmentGrid grid(kRows, kResidues);
  Context plain;
  Tape tape;
  Context recording;
  recording.tape = &tape;
  const FoldingState first = blocks.stack(plain, {kAlignment, kPairs}, grid),
                     second = blocks.stack(recording, {kAlignment, kPairs}, grid);
  EXPECT_EQ(first.alignment.ToVector<double>(), second.alignment.ToVector<double>());
  EXPECT_EQ(first.pair.ToVector<double>(), second.pair.ToVector<double>());
}

// Checks that for each second residue and channel, row dropout drops all first residues or none.
TEST(DropShared, SharesTheMask) {
  const Tensor ones = Tensor::Empty({6 * 5, 4}, DType::float64);
  ones.Fill(1);
  for (const DropoutShared shared : {DropoutShared::rows, DropoutShared::columns}) {
    Context context = Training(3);
    const Tensor y = DropShared(context, ones, 6, 0.5, shared);
    int dropped = 0;
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) {
        for (std::int64_t c = 0; c < 4; ++c) {
          const double number = y.matrix<double>().row(i * 5 + j)[c];
          EXPECT_TRUE(number == 0 || number == 2);
          EXPECT_EQ(number, y.matrix<double>().row(shared == DropoutShared::rows ? j : i * 5)[c]);
          dropped += number == 0 ? 1 : 0;
        }
      }
    }
    EXPECT_GT(dropped, 30);
    EXPECT_LT(dropped, 90);
  }
  Context evaluating;
  EXPECT_EQ(DropShared(evaluating, ones, 6, 0.5, DropoutShared::rows).ToVector<double>(), ones.ToVector<double>());
}

TEST(Evoformer, RefusesWrongShapes) {
  const Blocks blocks(/*global_columns=*/false);
  Context context;
  EXPECT_THROW(blocks.stack(context, {kAlignment, kPairs}, AlignmentGrid(kRows, 4)), Error);
  EXPECT_THROW(AlignmentGrid(0, 3), Error);
  EXPECT_THROW(AlignmentGrid(1, 60'000), Error);
  EXPECT_THROW(AlignmentGrid(2, 3, std::make_shared<std::vector<std::uint8_t>>(5)), Error);
}

}  // namespace
}  // namespace headlight::evoformer_test

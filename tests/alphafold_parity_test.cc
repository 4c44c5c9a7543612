// AlphaFold 2's parts against OpenFold: tools/make_alphafold_goldens.py says what testdata/alphafold/ holds.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/evoformer.h"
#include "headlight/nn/structure_module.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"
#include "tests/parity_testing.h"

namespace headlight {
namespace {

// A golden, and a part of a model that has its parameters.
class Golden {
 public:
  Golden(const std::string& name, DType dtype)
      : file_(HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/" + name + ".safetensors"), parameters_(dtype) {
    context_.tape = &tape_;
  }

  Parameters& parameters() { return parameters_; }
  Context& context() { return context_; }
  DType dtype() const { return parameters_.dtype(); }
  const Safetensors& file() const { return file_; }

  // To be called when all is declared.
  void Load() {
    parameters_.Allocate();
    parameters_.PrepareTraining();
    std::size_t found = 0;
    for (const Parameter& parameter : parameters_.all()) {
      std::int64_t row = 0;
      for (const std::string& name : parameter.names) {
        const Tensor part = file_.Read("parameter." + name, dtype());
        parameter.value.ViewRows(row, part.shape()[0]).CopyFrom(part);
        row += part.shape()[0];
        ++found;
      }
      ASSERT_EQ(row, parameter.shape[0]) << parameter.names.front();
    }
    std::size_t stored = 0;
    for (const auto& [name, tensor] : file_.tensors()) stored += name.starts_with("parameter.") ? 1 : 0;
    EXPECT_EQ(found, stored);
  }

  // An input as rows of its last axis, on the tape.
  Tensor Input(const std::string& name) {
    const Tensor stored = file_.Read(name, dtype());
    const Tensor input = tape_.Watch(stored.ViewAs({stored.rows(), stored.columns()}));
    inputs_.emplace_back(name, input);
    return input;
  }

  // Compares an output, of which rows that are not `present` count as 0, and adds it to the loss.
  void Output(const std::string& name, const Tensor& output, const std::vector<std::uint8_t>* present = nullptr) {
    Tensor weights = Tensor::Empty(output.shape(), dtype());
    Numbers numbers = ToDouble(output);
    Dispatch(dtype(), [&]<typename T>(T) {
      for (std::int64_t i = 0; i < output.elements(); ++i) {
        const bool counts = present == nullptr || (*present)[static_cast<std::size_t>(i / output.columns())] != 0;
        weights.data<T>()[i] = counts ? static_cast<T>(std::sin(static_cast<double>(i) + 1)) : T{0};
        if (!counts) numbers[static_cast<std::size_t>(i)] = 0;
      }
    });
    EXPECT_LT(Deviation(numbers, ToDouble(file_.Read(name, DType::float64))), Tolerance()) << name;
    const Tensor part = ops::Sum(ops::Multiply(output, weights));
    loss_ = loss_.empty() ? part : ops::Add(loss_, part);
  }

  void CheckGradients() {
    tape_.Backward(loss_);
    for (const auto& [name, input] : inputs_)
      EXPECT_LT(Deviation(ToDouble(tape_.GradientOf(input)), ToDouble(file_.Read("d_" + name, DType::float64))),
                Tolerance())
          << name;
    EXPECT_LT(Deviation(ByName(parameters_, &Parameter::gradient), GradientsOf(file_)), Tolerance());
  }

  // In double only the goldens, which are stored in single, are rounded.
  double Tolerance() const { return dtype() == DType::float64 ? 1e-6 : 1e-4; }

 private:
  Safetensors file_;
  Parameters parameters_;
  Tape tape_;
  Context context_;
  std::vector<std::pair<std::string, Tensor>> inputs_;
  Tensor loss_;
};

class AlphaFoldParity : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, AlphaFoldParity, testing::Values(DType::float32, DType::float64),
                         [](const auto& which) { return std::string(Name(which.param)); });

EvoformerConfig TinyBlock() {
  return {.alignment = 8,
          .heads = 2,
          .head_dim = 3,
          .outer_product = 3,
          .transition = 2,
          .pair = {.pair = 6, .channels = 4, .heads = 2, .head_dim = 3, .transition = 2}};
}

void CheckBlocks(const std::string& name, bool global_columns, DType dtype) {
  Golden golden(name, dtype);
  EvoformerConfig config = TinyBlock();
  config.global_columns = global_columns;
  const EvoformerStack stack(Scope(golden.parameters()), config, 2);
  golden.Load();
  const Tensor mask = golden.file().Read("mask", DType::float32);
  auto marks = std::make_shared<std::vector<std::uint8_t>>();
  for (const float mark : mask.ToVector<float>()) marks->push_back(mark != 0);
  const FoldingState state = {golden.Input("m"), golden.Input("z")};
  const FoldingState after = stack(golden.context(), state, AlignmentGrid(mask.shape()[0], mask.shape()[1], marks));
  golden.Output("m_out", after.alignment, marks.get());
  golden.Output("z_out", after.pair);
  golden.CheckGradients();
}

TEST_P(AlphaFoldParity, Evoformer) { CheckBlocks("evoformer", /*global_columns=*/false, GetParam()); }
TEST_P(AlphaFoldParity, ExtraRows) { CheckBlocks("extra_msa", /*global_columns=*/true, GetParam()); }

TEST_P(AlphaFoldParity, StructureModule) {
  Golden golden("structure_module", GetParam());
  const StructureModule module(Scope(golden.parameters()),
                               {.single = 10,
                                .pair = 6,
                                .attention = {.heads = 2, .head_dim = 3, .query_points = 2, .value_points = 3},
                                .angles = 5,
                                .blocks = 2});
  golden.Load();
  const std::vector<std::int32_t> types = golden.file().Read("aatype", DType::int32).ToVector<std::int32_t>();
  const Tensor single = golden.Input("single"), pair = golden.Input("pair");
  const Structure structure = module(golden.context(), single, pair, types);
  golden.Output("single_out", structure.single);
  for (int block = 0; block < 2; ++block) {
    const StructureBlock& made = structure.blocks[static_cast<std::size_t>(block)];
    const std::string number = "." + std::to_string(block);
    golden.Output("frames" + number, made.frames);
    golden.Output("group_frames" + number, made.group_frames);
    golden.Output("atoms" + number, made.atoms);
    golden.Output("unnormalized_angles" + number, made.unnormalized_torsions);
    golden.Output("angles" + number, made.torsions);
  }
  golden.CheckGradients();
}

}  // namespace
}  // namespace headlight

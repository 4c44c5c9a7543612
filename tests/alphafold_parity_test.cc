// AlphaFold 2's parts against OpenFold: tools/make_alphafold_goldens.py says what testdata/alphafold/ holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/alphafold.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/nn/evoformer.h"
#include "headlight/nn/structure_module.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"
#include "tests/parity_testing.h"

namespace headlight {
namespace {

using testing::HasSubstr;

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

  void CheckGradients() { CheckGradients(parameters_); }
  void CheckGradients(const Parameters& parameters) {
    tape_.Backward(loss_);
    for (const auto& [name, input] : inputs_)
      EXPECT_LT(Deviation(ToDouble(tape_.GradientOf(input)), ToDouble(file_.Read("d_" + name, DType::float64))),
                Tolerance())
          << name;
    EXPECT_LT(Deviation(ByName(parameters, &Parameter::gradient), GradientsOf(file_)), Tolerance());
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
  const FoldedStructure structure = module(golden.context(), single, pair, types);
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

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";

// The passes of the model's golden.
std::vector<FoldingFeatures> PassesOf(const Safetensors& file, DType dtype) {
  std::vector<FoldingFeatures> passes;
  for (int pass = 0; pass < 2; ++pass) {
    const auto rows = [&](const std::string& name) {
      const Tensor stored = file.Read(name + "." + std::to_string(pass), dtype);
      return stored.ViewAs({stored.rows(), stored.columns()});
    };
    const auto numbers = [&](const char* name) { return file.Read(name, DType::int32).ToVector<std::int32_t>(); };
    auto marks = std::make_shared<std::vector<std::uint8_t>>();
    for (const double mark : ToDouble(rows("mask"))) marks->push_back(mark != 0);
    passes.push_back({numbers("aatype"), numbers("residue_index"), rows("target"), rows("msa"), marks, rows("extra")});
  }
  return passes;
}

TEST_P(AlphaFoldParity, Model) {
  const DType dtype = GetParam();
  Golden golden("model/golden", dtype);
  AlphaFold model(LoadModel<AlphaFold>(kFolder)->config(), dtype);
  LoadParameters(model.parameters(), Safetensors(kFolder + "/model.safetensors"), [](auto) { return false; });
  model.parameters().PrepareTraining();
  const std::vector<FoldingFeatures> passes = PassesOf(golden.file(), dtype);
  const FoldingOutputs outputs = model.Fold(golden.context(), passes);
  const std::vector<std::uint8_t>* const present = passes.back().present.get();
  golden.Output("msa", outputs.alignment, present);
  golden.Output("pair", outputs.pair);
  golden.Output("single", outputs.single);
  golden.Output("frames", outputs.structure.blocks.back().frames);
  golden.Output("positions", outputs.structure.blocks.back().atoms);
  golden.Output("angles", outputs.structure.blocks.back().torsions);
  golden.Output("masked_msa_logits", outputs.letters, present);
  golden.Output("lddt_logits", outputs.lddt);
  golden.Output("distogram_logits", outputs.distances);
  golden.Output("experimentally_resolved_logits", outputs.resolved);
  golden.Output("tm_logits", outputs.aligned_errors);
  golden.CheckGradients(model.parameters());
}

// A row whose cells are all absent, which is what OpenFold pads with.
TEST_P(AlphaFoldParity, WithoutExtraRows) {
  const DType dtype = GetParam();
  AlphaFold model(LoadModel<AlphaFold>(kFolder)->config(), dtype);
  LoadParameters(model.parameters(), Safetensors(kFolder + "/model.safetensors"), [](auto) { return false; });
  FoldingFeatures features = PassesOf(Safetensors(kFolder + "/golden.safetensors"), dtype)[0];
  features.extra = Tensor::Zeros({0, 25}, dtype);
  Context context;
  int blocks = 0;
  const FoldingOutputs outputs = model.Pass(context, features, nullptr, [&] { ++blocks; });
  const Safetensors golden(kFolder + "/without_extra_rows.safetensors");
  EXPECT_LT(Deviation(ToDouble(outputs.pair), ToDouble(golden.Read("pair", DType::float64))), 1e-4);
  EXPECT_LT(
      Deviation(ToDouble(outputs.structure.blocks.back().atoms), ToDouble(golden.Read("positions", DType::float64))),
      1e-4);
  EXPECT_EQ(blocks, model.plan().blocks);
}

TEST(AlphaFold, ComesBackFromItsFolder) {
  const std::unique_ptr<FoldingModel> model = LoadModel<FoldingModel>(kFolder);
  const TemporaryFolder folder;
  ComesBack(*model, folder.path());
}

// The second pass reads what the first one gave.
TEST(AlphaFold, Recycles) {
  const std::unique_ptr<const FoldingModel> model = LoadModel<FoldingModel>(kFolder, {.purpose = LoadFor::computing});
  const std::vector<FoldingFeatures> passes = PassesOf(Safetensors(kFolder + "/golden.safetensors"), DType::float32);
  Context context;
  const Tensor twice = model->Fold(context, passes).pair, once = model->Fold(context, std::span(passes).last(1)).pair;
  EXPECT_GT(Deviation(ToDouble(once), ToDouble(twice)), 1e-2);
}

TEST(AlphaFold, ComputesInEveryPrecision) {
  const Safetensors golden(kFolder + "/golden.safetensors");
  for (const auto& [compute, tolerance] :
       {std::pair(Compute::float32, 1e-4), std::pair(Compute::bfloat16, 0.1), std::pair(Compute::int8, 0.2)}) {
    if (!kernels::CpuHas(compute)) continue;
    const std::unique_ptr<const FoldingModel> model =
        LoadModel<FoldingModel>(kFolder, {.compute = compute, .purpose = LoadFor::computing});
    Context context;
    const FoldingOutputs outputs = model->Fold(context, PassesOf(golden, DType::float32));
    EXPECT_LT(Deviation(ToDouble(outputs.pair), ToDouble(golden.Read("pair", DType::float64))), tolerance)
        << Name(compute);
  }
}

TEST(AlphaFold, RefusesWhatDoesNotFit) {
  const std::unique_ptr<const FoldingModel> model = LoadModel<FoldingModel>(kFolder);
  const std::vector<FoldingFeatures> good = PassesOf(Safetensors(kFolder + "/golden.safetensors"), DType::float32);
  const auto error_of = [&](auto spoil) {
    std::vector<FoldingFeatures> passes = good;
    spoil(passes);
    Context context;
    return ErrorOf([&] { model->Fold(context, passes); });
  };
  using Passes = std::vector<FoldingFeatures>;
  EXPECT_EQ(error_of([](Passes&) {}), "");
  EXPECT_THAT(error_of([](Passes& passes) { passes.clear(); }), HasSubstr("no pass"));
  EXPECT_THAT(error_of([](Passes& passes) { passes[1].places.pop_back(); }), HasSubstr("6 residues at 5 places"));
  EXPECT_THAT(error_of([](Passes& passes) { passes[1].types[0] = 21; }), HasSubstr("residue type 21"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[0].target = Tensor::Zeros({6, 21});
              }),
              HasSubstr("a target of shape [6, 21]"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[0].alignment = Tensor::Zeros({7, 49});
              }),
              HasSubstr("an alignment of shape [7, 49]"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[0].extra = Tensor::Zeros({6, 24});
              }),
              HasSubstr("extra rows of shape [6, 24]"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[1].types.pop_back();
                passes[1].places.pop_back();
                passes[1].target = Tensor::Zeros({5, 22});
                passes[1].alignment = Tensor::Zeros({5, 49});
                passes[1].extra = Tensor::Zeros({5, 25});
              }),
              HasSubstr("5 residues, in a pass after one over 36 pairs"));
  EXPECT_THAT(error_of([](Passes& passes) { passes[0].present = std::make_shared<std::vector<std::uint8_t>>(3); }),
              HasSubstr("3 marks"));

  const TemporaryFolder folder;
  const auto config_error = [&](const std::string& from, const std::string& to) {
    std::string config = ReadFile(kFolder + "/config.json");
    WriteFile(folder.File("config.json"), config.replace(config.find(from), from.size(), to));
    const JsonView json = ReadJson(folder.File("config.json"));
    return ErrorOf([&] {
      AlphaFoldConfig read;
      ReadConfig(json, read);
    });
  };
  EXPECT_THAT(config_error("\"c_m\": 8", "\"c_m\": 0"), HasSubstr("c_m"));
  EXPECT_THAT(config_error("\"c_ipa\": 3", "\"c_ipa\": -1"), HasSubstr("c_ipa"));
  EXPECT_THAT(config_error("\"no_blocks\": 2", "\"opm_first\": true"), HasSubstr("opm_first"));
  EXPECT_THAT(config_error("\"c_m\": 8", "\"template\": {}"), HasSubstr("template"));
}

}  // namespace
}  // namespace headlight

// Compares modules of AlphaFold 2 with OpenFold. tools/make_alphafold_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/alphafold.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/protein/nn/evoformer.h"
#include "headlight/protein/nn/structure_module.h"
#include "tests/alphafold_testing.h"
#include "tests/folding_testing.h"
#include "tests/parity_testing.h"

namespace headlight::alphafold_parity_test {
namespace {

using testing::HasSubstr;

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

const std::string kFolder = kAlphaFoldGoldens + "model";

void CheckModel(const std::string& name, DType dtype) {
  const std::string folder = kAlphaFoldGoldens + name;
  Golden golden(name + "/golden", dtype);
  AlphaFold model(LoadModel<AlphaFold>(folder)->config(), dtype);
  LoadParameters(model.parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return false; });
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

TEST_P(AlphaFoldParity, Model) { CheckModel("model", GetParam()); }
TEST_P(AlphaFoldParity, ModelWithTemplates) { CheckModel("templates", GetParam()); }

TEST_P(AlphaFoldParity, Templates) {
  Golden golden("template_embedder", GetParam());
  const TemplateEmbedder embedder(
      Scope(golden.parameters()), 8, 6,
      {.stack = {.pair = 5, .channels = 4, .heads = 2, .head_dim = 3, .transition = 2, .attention_first = true},
       .heads = 2,
       .head_dim = 3});
  golden.Load();
  const FoldingState state = {golden.Input("m"), golden.Input("z")};
  const FoldingState after = embedder(golden.context(), state, TemplateFeaturesOf(golden.file(), GetParam()));
  golden.Output("m_out", after.alignment);
  golden.Output("z_out", after.pair);
  golden.CheckGradients();
}

// Checks a model without extra rows. OpenFold pads the extra alignment with one fully masked row.
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

TEST(AlphaFold, SavesAndLoads) {
  for (const char* const name : {"model", "templates"}) {
    const std::unique_ptr<FoldingModel> model = LoadModel<FoldingModel>(kAlphaFoldGoldens + name);
    const TemporaryFolder folder;
    SaveAndReload(*model, folder.path());
  }
}

// Checks that without templates the result does not depend on the template weights.
TEST(AlphaFold, IgnoresTemplateWeightsWithoutTemplates) {
  const std::string folder = kAlphaFoldGoldens + "templates/";
  std::vector<FoldingFeatures> passes = PassesOf(Safetensors(folder + "golden.safetensors"), DType::float32);
  const std::unique_ptr<AlphaFold> reads = LoadModel<AlphaFold>(folder);
  AlphaFoldConfig config = reads->config();
  EXPECT_EQ(reads->plan().templates, 4);
  EXPECT_EQ(reads->plan().rows, 508);  // 512, of which 4 are reserved for templates
  config.templates = 0;
  AlphaFold reads_none(config);
  LoadParameters(reads_none.parameters(), Safetensors(folder + "model.safetensors"),
                 [](std::string_view name) { return name.starts_with("template_embedder."); });
  Context first, second, third;
  const Numbers with = ToDouble(reads->Fold(first, passes).pair);
  for (FoldingFeatures& features : passes) features.templates.clear();
  const Numbers without = ToDouble(reads->Fold(second, passes).pair);
  EXPECT_EQ(without, ToDouble(reads_none.Fold(third, passes).pair));
  EXPECT_GT(Deviation(with, without), 1e-2);
}

TEST(AlphaFold, KeepsItsFirstAndLastModulesInFloat32) {
  const std::unique_ptr<FoldingModel> model =
      LoadModel<FoldingModel>(kFolder, {.compute = Compute::int8, .purpose = LoadFor::computing});
  for (const Parameter& parameter : model->parameters().all()) {
    const std::string& name = parameter.names.front();
    const bool exact = name.starts_with("structure_module.") || name.starts_with("input_embedder.") ||
                       name.starts_with("recycling_embedder.") || name.starts_with("evoformer.linear.");
    EXPECT_EQ(parameter.compute, exact ? Compute::float32 : Compute::int8) << name;
    if (exact && parameter.role.in_products) {
      EXPECT_EQ(parameter.packed.compute(), Compute::float32) << name;
    }
  }
}

// Checks that a covariation of zeros has no effect, and that other covariations change the pair representation
// symmetrically.
TEST(AlphaFold, ReadsCovariation) {
  AlphaFoldConfig config = SmallAlphaFold();
  config.covariation = true;
  AlphaFold model(config);
  model.parameters().Initialize(1);
  AlignmentTable table = TableOfSequence("MARNDCQEGH");
  table.rows.push_back({TableOfSequence("MARNECQEGH").rows[0].residues, {}});
  Random random(1, 0);
  FoldingFeatures features = FeaturesForModel(FeaturesOf(table, DrawChoices(table, {.rows = 2, .extra = 0}, random)));
  const auto pair = [&] {
    Context context;
    return ToDouble(model.Fold(context, {&features, 1}).pair);
  };
  const Numbers without = pair();
  features.covariation = Tensor::Zeros({100, kCovariationFeatures});
  EXPECT_EQ(pair(), without);
  features.covariation.matrix<float>().row(3 * 10 + 7)[0] = 2;
  EXPECT_GT(Deviation(pair(), without), 1e-2);
  features.covariation = Tensor::Zeros({99, kCovariationFeatures});
  EXPECT_THROW(pair(), Error);
}

// Checks that the second pass uses the outputs of the first pass.
TEST(AlphaFold, RecyclesItsOutputs) {
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

TEST(AlphaFold, RefusesInvalidInput) {
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
  EXPECT_THAT(error_of([](Passes& passes) { passes[1].positions.pop_back(); }), HasSubstr("6 residues at 5"));
  EXPECT_THAT(error_of([](Passes& passes) { passes[1].types[0] = 21; }), HasSubstr("residue type 21"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[0].target = Tensor::Zeros({6, 21});
              }),
              HasSubstr("target of shape [6, 21]"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[0].alignment = Tensor::Zeros({7, 49});
              }),
              HasSubstr("alignment of shape [7, 49]"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[0].extra = Tensor::Zeros({6, 24});
              }),
              HasSubstr("rows of shape [6, 24]"));
  EXPECT_THAT(error_of([](Passes& passes) {
                passes[1].types.pop_back();
                passes[1].positions.pop_back();
                passes[1].target = Tensor::Zeros({5, 22});
                passes[1].alignment = Tensor::Zeros({5, 49});
                passes[1].extra = Tensor::Zeros({5, 25});
              }),
              HasSubstr("before had 36 pairs"));
  EXPECT_THAT(error_of([](Passes& passes) { passes[0].present = std::make_shared<std::vector<std::uint8_t>>(3); }),
              HasSubstr("3 marks"));

  // Invalid templates are rejected. Templates for a model without template weights are also rejected.
  const std::vector<FoldingFeatures> others =
      PassesOf(Safetensors(kAlphaFoldGoldens + "templates/golden.safetensors"), DType::float32);
  EXPECT_THAT(error_of([&](Passes& passes) { passes[0].templates = others[0].templates; }), HasSubstr("2 templates"));
  const std::unique_ptr<const FoldingModel> reads = LoadModel<FoldingModel>(kAlphaFoldGoldens + "templates");
  const auto template_error = [&](const auto& spoil) {
    FoldingFeatures features = others[0];
    spoil(features.templates[1]);
    Context context;
    return ErrorOf([&] { reads->Pass(context, features, nullptr); });
  };
  EXPECT_EQ(template_error([](TemplateFeatures&) {}), "");
  EXPECT_THAT(template_error([](TemplateFeatures& one) { one.types.pop_back(); }),
              HasSubstr("a template of 5 residues"));
  EXPECT_THAT(template_error([](TemplateFeatures& one) { one.types[0] = 22; }), HasSubstr("residue type 22"));
  EXPECT_THAT(template_error([](TemplateFeatures& one) { one.beta_known.pop_back(); }), HasSubstr("a template of"));
  EXPECT_THAT(template_error([](TemplateFeatures& one) {
                one.beta = Tensor::Zeros({6, 2});
              }),
              HasSubstr("betas of shape [6, 2]"));
  EXPECT_THAT(template_error([](TemplateFeatures& one) {
                one.angles = Tensor::Zeros({6, 56});
              }),
              HasSubstr("angles of shape [6, 56]"));

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
  EXPECT_THAT(config_error("\"c_m\": 8", "\"template\": {\"use_unit_vector\": true}"), HasSubstr("use_unit_vector"));
  EXPECT_THAT(config_error("\"c_m\": 8", "\"max_templates\": -1"), HasSubstr("max_templates"));
  EXPECT_THAT(config_error("\"c_m\": 8", "\"template\": {\"c_t\": 0}"), HasSubstr("c_t"));
}

}  // namespace
}  // namespace headlight::alphafold_parity_test

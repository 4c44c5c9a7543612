// Compares ESMFold with Transformers. tools/make_esmfold_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/esmfold.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/text/tokenizers/esm_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "tests/parity_testing.h"

namespace headlight::esmfold_parity_test {
namespace {

using testing::HasSubstr;

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/esmfold";

Safetensors Golden() { return Safetensors(kFolder + "/golden.safetensors"); }

FoldingFeatures FeaturesOf(const Safetensors& golden) {
  const auto numbers = [&](const char* name) { return golden.Read(name, DType::int32).ToVector<std::int32_t>(); };
  FoldingFeatures features;
  features.types = numbers("aatype");
  features.positions = numbers("residue_index");
  return features;
}

// Returns the outputs of all blocks of the structure module, concatenated.
Numbers OfBlocks(const FoldedStructure& structure, Tensor StructureBlock::*member) {
  Numbers all;
  for (const StructureBlock& block : structure.blocks) {
    const Numbers one = ToDouble(block.*member);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

// Returns the sum of all elements, weighted by the sine of their index + `first`.
Tensor Weighted(const Tensor& x, std::int64_t first = 0) {
  const Tensor weights = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    double index = static_cast<double>(first);
    for (T& weight : weights.span<T>()) weight = static_cast<T>(std::sin(++index));
  });
  return ops::Sum(ops::Multiply(x, weights));
}

class EsmFoldParity : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, EsmFoldParity, testing::Values(DType::float32, DType::float64),
                         [](const auto& which) { return std::string(Name(which.param)); });

TEST_P(EsmFoldParity, EqualsTransformers) {
  const DType dtype = GetParam();
  // The goldens have single precision, so the double-precision model only differs by the rounding of the goldens.
  const double tolerance = dtype == DType::float64 ? 1e-6 : 1e-4;
  const Safetensors golden = Golden();
  const std::unique_ptr<EsmFold> single = LoadModel<EsmFold>(kFolder);
  EsmFold model(single->config(), dtype);
  model.parameters().Allocate();
  for (std::size_t i = 0; i < model.parameters().all().size(); ++i)
    Dispatch(dtype, [&]<typename T>(T) {
      const std::vector<float> values = single->parameters().all()[i].value.ToVector<float>();
      std::copy(values.begin(), values.end(), model.parameters().all()[i].value.span<T>().begin());
    });
  model.parameters().PrepareTraining();
  const FoldingFeatures features = FeaturesOf(golden);
  const auto compare = [&](const std::string& name, const Numbers& actual) {
    EXPECT_LT(Deviation(actual, ToDouble(golden.Read(name, DType::float64))), tolerance) << name;
  };
  Context untrained;
  const FoldingOutputs first = model.Fold(untrained, std::vector<FoldingFeatures>{features});
  compare("s_s.first", ToDouble(first.single));
  compare("s_z.first", ToDouble(first.pair));
  compare("positions.first", OfBlocks(first.structure, &StructureBlock::atoms));

  Tape tape;
  Context context;
  context.tape = &tape;
  const FoldingOutputs outputs = model.Fold(context, std::vector<FoldingFeatures>{features, features});
  Tensor loss;
  const auto add = [&](const std::string& name, const Tensor& output) {
    if (!name.empty()) compare(name, ToDouble(output));
    const Tensor part = Weighted(output);
    loss = loss.empty() ? part : ops::Add(loss, part);
  };
  add("s_s", outputs.single);
  add("s_z", outputs.pair);
  add("distogram_logits", outputs.distances);
  add("ptm_logits", outputs.aligned_errors);
  add("lm_logits", outputs.letters);
  add("", outputs.atom_lddt);
  const Numbers lddt = ToDouble(outputs.atom_lddt), alpha = ToDouble(outputs.lddt);
  compare("lddt_head", {lddt.begin(), lddt.begin() + 2 * 37 * 50});
  // outputs.lddt equals the values of CA, the second atom.
  EXPECT_EQ(Numbers(alpha.begin(), alpha.begin() + 50), Numbers(lddt.begin() + 50, lddt.begin() + 100));
  for (const auto& [name, member] :
       {std::pair("frames", &StructureBlock::frames), std::pair("sidechain_frames", &StructureBlock::group_frames),
        std::pair("unnormalized_angles", &StructureBlock::unnormalized_torsions),
        std::pair("angles", &StructureBlock::torsions), std::pair("positions", &StructureBlock::atoms)}) {
    compare(name, OfBlocks(outputs.structure, member));
    std::int64_t index = 0;
    for (const StructureBlock& block : outputs.structure.blocks) {
      loss = ops::Add(loss, Weighted(block.*member, index));
      index += (block.*member).elements();
    }
  }
  EXPECT_LT(Deviation(ToDouble(loss), ToDouble(golden.Read("loss", DType::float64))), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden)), tolerance);
}

TEST(EsmFold, SavesAndLoads) {
  const std::unique_ptr<FoldingModel> model = LoadModel<FoldingModel>(kFolder);
  const TemporaryFolder folder;
  const std::unique_ptr<FoldingModel> again = SaveAndReload(*model, folder.path());
  Context context;
  const std::vector<FoldingFeatures> passes = {FeaturesOf(Golden())};
  EXPECT_EQ(again->Fold(context, passes).lddt.ToVector<float>(), model->Fold(context, passes).lddt.ToVector<float>());
  // The saved folder has the format of Transformers.
  const Safetensors saved(folder.File("model.safetensors")), published(kFolder + "/model.safetensors");
  EXPECT_EQ(saved.Read("af2_to_esm", DType::int32).ToVector<std::int32_t>(),
            published.Read("af2_to_esm", DType::int32).ToVector<std::int32_t>());
  EXPECT_TRUE(saved.contains("esm.contact_head.regression.weight"));
  const JsonView config = ReadJson(folder.File("config.json"));
  EXPECT_TRUE(config["is_folding_model"].Bool());
  EXPECT_EQ(config["vocab_list"].Strings().size(), 33U);
  EXPECT_EQ(config["esmfold_config"]["trunk"]["structure_module"]["num_blocks"].Integer(), 2);
  EXPECT_EQ(config["esmfold_config"]["trunk"]["structure_module"]["trans_scale_factor"].value(), Json(10));
  EXPECT_FALSE(config["esmfold_config"]["fp16_esm"].Bool());  // if set, Transformers rounds the language model
}

// Checks that a model without a vocabulary in its configuration uses the built-in tokenizer's vocabulary.
TEST(EsmFold, HasEsmsVocabulary) {
  const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(EsmTokenizerJson().Text(), "ESM's tokenizer");
  EsmFoldConfig config = LoadModel<EsmFold>(kFolder)->config();
  config.vocabulary.clear();
  config.language.encoder.vocabulary = 33;
  const std::vector<std::string> vocabulary = EsmFold(config).config().vocabulary;
  ASSERT_EQ(std::ssize(vocabulary), tokenizer.size());
  for (std::size_t id = 0; id < vocabulary.size(); ++id)
    EXPECT_EQ(tokenizer.Find(vocabulary[id]), static_cast<std::int32_t>(id));
}

TEST(EsmFold, RecyclesWithoutReadingTheSequenceAgain) {
  const std::unique_ptr<const FoldingModel> model = LoadModel<FoldingModel>(kFolder, {.purpose = LoadFor::computing});
  const Safetensors golden = Golden();
  const FoldingFeatures features = FeaturesOf(golden);
  Context context;
  FoldingOutputs before = model->Pass(context, features, nullptr);
  const FoldingOutputs after = model->Pass(context, features, &before);
  EXPECT_LT(Deviation(ToDouble(after.pair), ToDouble(golden.Read("s_z", DType::float64))), 1e-4);
  before.sequence = Tensor();
  EXPECT_EQ(model->Pass(context, features, &before).pair.ToVector<float>(), after.pair.ToVector<float>());
  EXPECT_EQ(model->plan().recycles, 1);
  EXPECT_EQ(model->plan().rows, 0);
}

// Checks the order of attention maps. Each block has sequence attention and two triangle attentions. The attention of
// the structure module's blocks follows.
TEST(EsmFold, RecordsResidueAttention) {
  const std::unique_ptr<const FoldingModel> model = LoadModel<FoldingModel>(kFolder);
  std::vector<ResidueAttentionKind> kinds;
  int blocks = 0;
  Context context;
  context.hooks.residues = [&](const ResidueWeights& seen) {
    kinds.push_back(seen.kind);
    EXPECT_EQ(seen.weights.shape(), (Shape{1, 2, 8, 8}));
    double sum = 0;
    for (const double weight : ToDouble(seen.weights)) sum += weight;
    EXPECT_NEAR(sum, 16, 1e-3);
  };
  model->Pass(context, FeaturesOf(Golden()), nullptr, [&] { ++blocks; });
  using enum ResidueAttentionKind;
  EXPECT_THAT(kinds, testing::ElementsAre(row, starting_node, ending_node, row, starting_node, ending_node,
                                          invariant_points, invariant_points));
  EXPECT_EQ(blocks, 2);
}

TEST(EsmFold, ComputesInEveryPrecision) {
  const Safetensors golden = Golden();
  for (const auto& [compute, tolerance] :
       {std::pair(Compute::float32, 1e-4), std::pair(Compute::bfloat16, 0.1), std::pair(Compute::int8, 0.25)}) {
    if (!kernels::CpuHas(compute)) continue;
    const std::unique_ptr<const FoldingModel> model =
        LoadModel<FoldingModel>(kFolder, {.compute = compute, .purpose = LoadFor::computing});
    Context context;
    const FoldingOutputs outputs = model->Fold(context, std::vector<FoldingFeatures>{FeaturesOf(golden)});
    EXPECT_LT(Deviation(ToDouble(outputs.pair), ToDouble(golden.Read("s_z.first", DType::float64))), tolerance)
        << Name(compute);
  }
}

TEST(EsmFold, RefusesInvalidInput) {
  EXPECT_THAT(ErrorOf([&] { LoadModel<TextEncoder>(kFolder); }), HasSubstr("structure prediction model"));
  const std::unique_ptr<const FoldingModel> model = LoadModel<FoldingModel>(kFolder);
  const FoldingFeatures features = FeaturesOf(Golden());
  Context context;
  const auto error_of = [&](const FoldingFeatures& wrong) {
    return ErrorOf([&] { model->Pass(context, wrong, nullptr); });
  };
  FoldingFeatures few_positions = features, foreign = features;
  few_positions.positions.pop_back();
  foreign.types[3] = 21;
  EXPECT_THAT(error_of(few_positions), HasSubstr("8 residues at 7"));
  EXPECT_THAT(error_of(foreign), HasSubstr("residue type 21"));
  EXPECT_THAT(error_of({}), HasSubstr("0 residues"));

  const auto config_error = [&](const std::string& from, const std::string& to) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolder, folder.path(), std::filesystem::copy_options::recursive);
    std::string config = ReadFile(folder.File("config.json"));
    const std::size_t at = config.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(folder.File("config.json"), config.replace(at, from.size(), to));
    return ErrorOf([&] { LoadModel<FoldingModel>(folder.path()); });
  };
  EXPECT_THAT(config_error("\"use_esm_attn_map\": false", "\"use_esm_attn_map\": true"), HasSubstr("use_esm_attn_map"));
  EXPECT_THAT(config_error("\"bypass_lm\": false", "\"bypass_lm\": true"), HasSubstr("bypass_lm"));
  EXPECT_THAT(config_error("\"num_angles\": 7", "\"num_angles\": 6"), HasSubstr("num_angles"));
  EXPECT_THAT(config_error("\"layer_drop\": 0.0", "\"layer_drop\": 0.1"), HasSubstr("layer_drop"));
  EXPECT_THAT(config_error("\"sequence_head_width\": 5", "\"sequence_head_width\": 3"),
              HasSubstr("heads of 3 numbers"));
  EXPECT_THAT(config_error("\"pairwise_head_width\": 3", "\"pairwise_head_width\": 4"),
              HasSubstr("heads of 4 numbers"));
  EXPECT_THAT(config_error("\"A\"", "\"J\""), HasSubstr("the vocabulary lacks 'A'"));
  EXPECT_THAT(config_error("\"L\",\n    \"A\"", "\"A\",\n    \"L\""), HasSubstr("af2_to_esm"));
  EXPECT_THAT(config_error("\"chunk_size\": 128", "\"chunk_size\": 128, \"other\": 1"), HasSubstr("other"));
}

}  // namespace
}  // namespace headlight::esmfold_parity_test

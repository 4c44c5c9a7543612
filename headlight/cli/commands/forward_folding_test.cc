#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/alphafold.h"
#include "tests/folding_testing.h"
#include "tests/parity_testing.h"

namespace headlight::forward_folding_test {
namespace {

using testing::HasSubstr;

// The inputs of the golden model with templates, which tools/make_alphafold_goldens.py writes. The inputs are named as
// in OpenFold, and have a last axis for two recycling iterations.
struct ForwardFolding : testing::Test {
  using Inputs = std::map<std::string, Tensor>;

  ForwardFolding() {
    for (const char* const name : {"aatype", "residue_index", "template_aatype"})
      AddPasses(name, golden.Read(name, DType::int32), golden.Read(name, DType::int32));
    for (const char* const name : {"mask", "pseudo_beta", "pseudo_beta_mask", "all_atom_mask", "torsion_angles_sin_cos",
                                   "alt_torsion_angles_sin_cos", "torsion_angles_mask"}) {
      const Tensor both = golden.Read(std::string("template_") + name);
      AddPasses(std::string("template_") + name, both, both);
    }
    for (const auto& [name, its] :
         {std::pair("target_feat", "target"), std::pair("msa_feat", "msa"), std::pair("msa_mask", "mask")})
      AddPasses(name, golden.Read(std::string(its) + ".0"), golden.Read(std::string(its) + ".1"));
    const auto [letters, has, deletions] = ExtraOf("extra.0");
    const auto [letters1, has1, deletions1] = ExtraOf("extra.1");
    AddPasses("extra_msa", letters, letters1);
    AddPasses("extra_has_deletion", has, has1);
    AddPasses("extra_deletion_value", deletions, deletions1);
  }

  void AddPasses(const std::string& name, const Tensor& first, const Tensor& second) {
    std::vector<std::int64_t> axes(first.shape().axes().begin(), first.shape().axes().end());
    axes.push_back(2);
    const Tensor both = Tensor::Empty(Shape(axes), first.dtype());
    const auto fill = [&]<typename T>(T) {
      for (std::int64_t i = 0; i < first.elements(); ++i) {
        both.data<T>()[2 * i] = first.data<T>()[i];
        both.data<T>()[2 * i + 1] = second.data<T>()[i];
      }
    };
    if (first.dtype() == DType::int32)
      fill(std::int32_t{});
    else
      fill(float{});
    inputs[name] = both;
  }
  // The letter, deletion flag and deletion count of each cell in the extra MSA.
  struct Extra {
    Tensor letters, has, deletions;
  };
  Extra ExtraOf(const std::string& name) const {
    const Tensor cells = golden.Read(name);
    const Shape shape = {cells.shape()[0], cells.shape()[1]};
    Extra extra{Tensor::Empty(shape, DType::int32), Tensor::Empty(shape), Tensor::Empty(shape)};
    for (std::int64_t cell = 0; cell < shape.elements(); ++cell) {
      const float* const row = cells.data<float>() + cell * 25;
      extra.letters.data<std::int32_t>()[cell] = static_cast<std::int32_t>(std::max_element(row, row + 23) - row);
      extra.has.data<float>()[cell] = row[23];
      extra.deletions.data<float>()[cell] = row[24];
    }
    return extra;
  }

  Outcome Forward(const Inputs& given, const std::string& by = kModels + "templates") const {
    std::vector<StoredTensor> stored;
    for (const auto& [name, tensor] : given) {
      const bool integers = tensor.dtype() == DType::int32;
      const std::size_t bytes = static_cast<std::size_t>(tensor.elements()) * 4;
      stored.push_back({name, integers ? StoredType::i32 : StoredType::f32, tensor.shape(),
                        integers ? std::as_bytes(std::span(tensor.data<std::int32_t>(), bytes / 4))
                                 : std::as_bytes(std::span(tensor.data<float>(), bytes / 4))});
    }
    WriteSafetensors(in, stored);
    return RunProgram({"forward", by, in, "--out", out});
  }

  static inline const std::string kModels = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/";
  const Safetensors golden = Safetensors(kModels + "templates/golden.safetensors");
  const TemporaryFolder folder;
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
  Inputs inputs;
};

TEST_F(ForwardFolding, GivesWhatOpenFoldDoes) {
  const Outcome outcome = Forward(inputs);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Safetensors file(out);
  for (const auto& [name, its, tolerance] :
       {std::tuple("pair", "pair", 1e-4), std::tuple("single", "single", 1e-4), std::tuple("sm.frames", "frames", 1e-3),
        std::tuple("sm.positions", "positions", 1e-3), std::tuple("sm.angles", "angles", 1e-4),
        std::tuple("lddt_logits", "lddt_logits", 1e-4), std::tuple("distogram_logits", "distogram_logits", 1e-4),
        std::tuple("tm_logits", "tm_logits", 1e-4),
        std::tuple("experimentally_resolved_logits", "experimentally_resolved_logits", 1e-4)}) {
    EXPECT_EQ(file.At(name).shape, golden.At(its).shape) << name;
    EXPECT_LT(Deviation(ToDouble(file.Read(name)), ToDouble(golden.Read(its))), tolerance) << name;
  }
  EXPECT_EQ(file.At("msa").shape, golden.At("msa").shape);
  EXPECT_EQ(file.At("masked_msa_logits").shape, golden.At("masked_msa_logits").shape);
  EXPECT_EQ(file.At("plddt").shape, (Shape{6}));
  // Glycine has four atoms. CA is the second atom in the 14-atom and in the 37-atom order.
  const Tensor mask = file.Read("final_atom_mask"), atoms = file.Read("final_atom_positions");
  const std::vector<float> known(mask.data<float>(), mask.data<float>() + 37);
  EXPECT_EQ(std::count(known.begin(), known.end(), 1.0F), 4);
  EXPECT_EQ(atoms.data<float>()[3], file.Read("sm.positions").data<float>()[3]);
}

TEST_F(ForwardFolding, ReadsCovariation) {
  AlphaFoldConfig config = SmallAlphaFold();
  config.covariation = true;
  AlphaFold model(config);
  model.parameters().Initialize(1);
  std::filesystem::create_directory(folder.File("model"));
  model.Save(folder.File("model"));
  std::erase_if(inputs, [](const auto& input) { return input.first.starts_with("template_"); });
  const auto pair = [&](float coupling) {
    inputs["covariation"] = Tensor::Zeros({6, 6, 2, 2});
    inputs["covariation"].Fill(coupling);
    const Outcome outcome = Forward(inputs, folder.File("model"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return ToDouble(Safetensors(out).Read("pair"));
  };
  EXPECT_GT(Deviation(pair(1), pair(0)), 1e-2);
}

TEST_F(ForwardFolding, RefusesWhatDoesNotFit) {
  const auto error_of = [&](const std::function<void(Inputs&)>& spoil, const std::string& by = "templates") {
    Inputs spoiled = inputs;
    spoil(spoiled);
    const Outcome outcome = Forward(spoiled, kModels + by);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(out));
    return outcome.err;
  };
  EXPECT_THAT(error_of([](Inputs& all) { all["more"] = Tensor::Zeros({1}); }), HasSubstr("'more' is not an input"));
  EXPECT_THAT(error_of([](Inputs& all) { all.erase("msa_feat"); }), HasSubstr("msa_feat"));
  EXPECT_THAT(error_of([](Inputs& all) { all["aatype"] = Tensor::Zeros({6}, DType::int32); }),
              HasSubstr("must be [residues, passes]"));
  EXPECT_THAT(error_of([](Inputs& all) { all["residue_index"] = Tensor::Zeros({6, 2}); }), HasSubstr("is F32"));
  EXPECT_THAT(error_of([](Inputs& all) {
                all["template_aatype"] = Tensor::Empty({2, 6, 2}, DType::int32);
                all["template_aatype"].Fill(22);
              }),
              HasSubstr("template_aatype holds 22, and must"));
  EXPECT_THAT(error_of([](Inputs& all) {
                all["template_pseudo_beta"] = Tensor::Zeros({2, 6, 2, 2});
              }),
              HasSubstr("[2, 6, 3, 2]"));
  EXPECT_THAT(error_of([](Inputs& all) { all["msa_mask"] = Tensor::Zeros({4, 6, 1}); }), HasSubstr("msa_mask"));
  EXPECT_THAT(error_of([](Inputs& all) {
                all["template_mask"] = Tensor::Empty({2, 2});
                all["template_mask"].Fill(0.5);
              }),
              HasSubstr("must be 0 or 1"));
  EXPECT_THAT(error_of([](Inputs& all) {
                all["target_feat"] = Tensor::Empty({6, 22, 2});
                all["target_feat"].Fill(INFINITY);
              }),
              HasSubstr("is not finite"));
  EXPECT_THAT(error_of([](Inputs& all) {
                all["covariation"] = Tensor::Zeros({6, 6, 2, 2});
              }),
              HasSubstr("covariation"));
  EXPECT_THAT(error_of([](Inputs&) {}, "model"), HasSubstr("2 templates, and this model"));
}

// Compares the outputs with Transformers (tools/make_esmfold_goldens.py). In the batch, another chain precedes the
// chain of the golden file.
TEST(ForwardEsmFold, GivesWhatTransformersGives) {
  const std::string model = HEADLIGHT_SOURCE_DIR "/tests/testdata/esmfold";
  const Safetensors golden(model + "/golden.safetensors");
  const std::vector<std::int32_t> types = golden.Read("aatype", DType::int32).ToVector<std::int32_t>(),
                                  places = golden.Read("residue_index", DType::int32).ToVector<std::int32_t>();
  const std::int64_t residues = std::ssize(types), length = residues + 2;
  const TemporaryFolder folder;
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
  const Tensor ids = Tensor::Zeros({2, length}, DType::int32), mask = Tensor::Zeros({2, length}, DType::int32),
               positions = Tensor::Zeros({2, length}, DType::int32);
  for (std::int64_t i = 0; i < length; ++i) {
    mask.matrix<std::int32_t>().row(0)[i] = 1;
    positions.matrix<std::int32_t>().row(0)[i] = static_cast<std::int32_t>(i);
  }
  for (std::int64_t i = 0; i < residues; ++i) {
    ids.matrix<std::int32_t>().row(1)[i + 1] = types[static_cast<std::size_t>(i)];
    mask.matrix<std::int32_t>().row(1)[i + 1] = 1;
    positions.matrix<std::int32_t>().row(1)[i + 1] = places[static_cast<std::size_t>(i)];
  }
  const std::vector<std::int32_t> one = {1};
  const Tensor recycles = Tensor::From<std::int32_t>(one, {1});
  const auto write = [&](const Tensor& of_recycles) {
    WriteSafetensors(in, {Stored("input_ids", ids), Stored("attention_mask", mask), Stored("position_ids", positions),
                          Stored("num_recycles", of_recycles)});
  };
  write(recycles);
  MustRun({"forward", model, in, "--out", out});
  const Safetensors outputs(out);
  const auto numbers_of = [](const Safetensors& file, const std::string& name) {
    if (file.At(name).type != StoredType::i32) return file.Read(name).ToVector<float>();
    const std::vector<std::int32_t> integers = file.Read(name, DType::int32).ToVector<std::int32_t>();
    return std::vector<float>(integers.begin(), integers.end());
  };
  // Returns the second chain's part of an output. The output's shape is [blocks, batch, length, ...] if `axis` is 1,
  // and [batch, length, ...] otherwise. If `lengths` is 2, the shape has the axis `length` twice.
  const auto of_chain = [&](const std::string& name, std::int64_t axis, std::int64_t lengths) {
    const std::vector<float> all = numbers_of(outputs, name);
    const std::int64_t blocks = axis == 1 ? outputs.At(name).shape[0] : 1;
    const std::int64_t width = std::ssize(all) / blocks / 2 / (lengths == 2 ? length * length : length);
    std::vector<float> rows;
    for (std::int64_t block = 0; block < blocks; ++block)
      for (std::int64_t row = 1; row <= (lengths == 2 ? residues : 1); ++row) {
        const float* const from =
            all.data() +
            (((2 * block + 1) * (lengths == 2 ? length : 1) + (lengths == 2 ? row : 0)) * length + 1) * width;
        rows.insert(rows.end(), from, from + residues * width);
      }
    return rows;
  };
  const std::set<std::string> of_pairs = {"s_z", "distogram_logits", "ptm_logits", "aligned_confidence_probs",
                                          "predicted_aligned_error"};
  std::set<std::string> compared;
  for (const auto& [name, stored] : golden.tensors()) {
    if (!name.starts_with("shape.")) continue;
    const std::string output = name.substr(6);
    ASSERT_TRUE(outputs.contains(output)) << output;
    compared.insert(output);
    std::vector<std::int64_t> expected_shape;  // shape of Transformers' output for one chain
    for (const std::int32_t axis : golden.Read(name, DType::int32).ToVector<std::int32_t>())
      expected_shape.push_back(axis);
    if (output == "max_predicted_aligned_error") {
      EXPECT_EQ(outputs.At(output).shape, Shape{});
      EXPECT_EQ(outputs.Read(output).data<float>()[0], golden.Read("forward." + output).data<float>()[0]);
      continue;
    }
    if (output == "ptm") {  // one value for each chain
      EXPECT_EQ(outputs.At(output).shape, Shape{2});
      EXPECT_NEAR(outputs.Read(output).data<float>()[1], golden.Read("forward.ptm").data<float>()[0], 1e-5);
      continue;
    }
    const std::int64_t axis = expected_shape[0] == 1 ? 0 : 1;  // the batch axis
    const std::int64_t lengths = of_pairs.contains(output) ? 2 : 1;
    expected_shape[static_cast<std::size_t>(axis)] = 2;
    for (std::int64_t i = 1; i <= lengths; ++i) expected_shape[static_cast<std::size_t>(axis + i)] = length;
    EXPECT_EQ(outputs.At(output).shape, Shape(expected_shape)) << output;
    const bool further = golden.contains("forward." + output);
    const std::vector<float> expected = numbers_of(golden, further ? "forward." + output : output);
    std::vector<float> actual = of_chain(output, axis, lengths);
    if (output == "lddt_head") {  // the golden file has only two residues
      const std::size_t block = actual.size() / 2, two = expected.size() / 2;
      actual.erase(actual.begin() + static_cast<std::ptrdiff_t>(block + two), actual.end());
      actual.erase(actual.begin() + static_cast<std::ptrdiff_t>(two),
                   actual.begin() + static_cast<std::ptrdiff_t>(block));
    }
    ASSERT_EQ(actual.size(), expected.size()) << output;
    float scale = 0;
    for (const float value : expected) scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4 * scale) << output;
  }
  EXPECT_EQ(compared.size(), 23U);
  EXPECT_EQ(outputs.tensors().size(), compared.size());
  for (const char* const integers : {"aatype", "residue_index", "residx_atom14_to_atom37", "residx_atom37_to_atom14"})
    EXPECT_EQ(outputs.At(integers).type, StoredType::i32) << integers;
  EXPECT_EQ(outputs.At("positions").shape, (Shape{outputs.At("positions").shape[0], 2, length, 14, 3}));
  EXPECT_EQ(outputs.At("plddt").shape, (Shape{2, length, 37}));
  EXPECT_EQ(outputs.At("predicted_aligned_error").shape, (Shape{2, length, length}));
  for (const float value : outputs.Read("plddt").ToVector<float>()) EXPECT_TRUE(value >= 0 && value <= 1);
  for (const float value : outputs.Read("ptm").ToVector<float>()) EXPECT_TRUE(value > 0 && value < 1);

  ids.data<std::int32_t>()[0] = 21;
  write(recycles);
  EXPECT_THAT(RefusalOf({"forward", model, in, "--out", out}), HasSubstr("21 is outside the vocabulary"));
  ids.data<std::int32_t>()[0] = 0;
  write(Tensor::From<std::int32_t>(std::vector<std::int32_t>{1, 2}, {2}));
  EXPECT_THAT(RefusalOf({"forward", model, in, "--out", out}), HasSubstr("num_recycles must be one integer"));
}

}  // namespace
}  // namespace headlight::forward_folding_test

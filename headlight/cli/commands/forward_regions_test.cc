#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"

namespace headlight::forward_regions_test {
namespace {

using testing::HasSubstr;

struct ForwardRegionsTest : testing::Test {
  static std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/" + name; }
  void WriteInputs(const std::map<std::string, Tensor>& inputs) const {
    std::vector<StoredTensor> stored;
    for (const auto& [name, tensor] : inputs) stored.push_back(Stored(name, tensor));
    WriteSafetensors(in, stored);
  }
  static std::map<std::string, Tensor> InputsOf(const Safetensors& golden) {
    std::map<std::string, Tensor> inputs;
    for (const char* name : {"image_feat", "image_loc", "visual_embeds", "visual_feats", "visual_pos", "pixel_values"})
      if (golden.contains(name)) inputs[name] = golden.Read(name);
    for (const char* name : {"input_ids", "attention_mask", "token_type_ids", "image_attention_mask", "task_ids",
                             "visual_attention_mask", "visual_token_type_ids", "pixel_mask"})
      if (golden.contains(name)) inputs[name] = golden.Read(name, DType::int32);
    return inputs;
  }

  const TemporaryFolder folder;
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
};

// Compares the outputs with the reference for the folders of tools/make_vilbert_goldens.py and similar scripts. At
// padded positions, headlight returns 0, and the reference returns arbitrary values.
TEST_F(ForwardRegionsTest, GivesWhatTheOtherProgramGives) {
  for (const char* name : {"vilbert/pretraining", "vilbert/tasks", "visual_bert/encoder", "visual_bert/pretraining",
                           "visual_bert/answers", "lxmert/encoder", "lxmert/pretraining", "lxmert/answers",
                           "vilt/encoder", "vilt/masked_words", "vilt/answers", "vilt/ranking"}) {
    const Safetensors golden(FolderOf(name) + "/golden.safetensors");
    WriteInputs(InputsOf(golden));
    const Outcome outcome = RunProgram({"forward", FolderOf(name), in, "--out", out});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Safetensors given(out);
    std::size_t compared = 0;
    for (const auto& [output, tensor] : given.tensors()) {
      ASSERT_TRUE(golden.contains(output)) << output;
      const std::vector<float> actual = given.Read(output).ToVector<float>(),
                               expected = golden.Read(output).ToVector<float>();
      ASSERT_EQ(given.At(output).shape, golden.At(output).shape) << output;
      float scale = 0;
      for (const float value : expected) scale = std::max(scale, std::abs(value));
      std::size_t zeros = 0;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        zeros += actual[i] == 0 ? 1 : 0;
        if (actual[i] == 0) continue;
        ASSERT_NEAR(actual[i], expected[i], 1e-4 * scale) << name << ' ' << output;
      }
      EXPECT_LT(zeros, actual.size() * 9 / 10) << output;  // ReLU sets some values of a pooled state to 0
      ++compared;
    }
    // All outputs in the golden file must have been compared.
    std::size_t outputs = 0;
    for (const auto& [output, tensor] : golden.tensors())
      outputs += output != "loss" && !output.starts_with("gradient.") && !InputsOf(golden).contains(output) ? 1 : 0;
    EXPECT_EQ(compared, outputs) << name;
  }
}

TEST_F(ForwardRegionsTest, ReadsOnlyWholePatches) {
  const std::string model = FolderOf("vilt/encoder");
  const std::map<std::string, Tensor> good = InputsOf(Safetensors(model + "/golden.safetensors"));
  const auto refusal = [&](const std::string& name, const Tensor& tensor) {
    std::map<std::string, Tensor> inputs = good;
    inputs[name] = tensor;
    WriteInputs(inputs);
    return RefusalOf({"forward", model, in, "--out", out});
  };
  // Returns the mask of two images of 16 x 12 pixels.
  const auto mask = [](std::int64_t height, std::int64_t width, std::int64_t hidden) {
    const Tensor seen = Tensor::Zeros({2, 16, 12}, DType::int32);
    for (std::int64_t y = 0; y < 2 * 16; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        seen.data<std::int32_t>()[y * 12 + x] = y % 16 < height && 12 * y + x != hidden ? 1 : 0;
    return seen;
  };
  const char* const rule = "must be 1 in a rectangle of whole patches of 4 x 4 from the top left";
  EXPECT_THAT(refusal("pixel_mask", mask(8, 9, -1)), HasSubstr(rule));
  EXPECT_THAT(refusal("pixel_mask", mask(7, 8, -1)), HasSubstr(rule));
  EXPECT_THAT(refusal("pixel_mask", mask(0, 8, -1)), HasSubstr(rule));
  EXPECT_THAT(refusal("pixel_mask", mask(8, 8, 14)), HasSubstr(rule));
  EXPECT_THAT(refusal("pixel_mask", Tensor::Zeros({2, 16, 11}, DType::int32)), HasSubstr("must be [2, 16, 12]"));
  EXPECT_THAT(refusal("pixel_values", Tensor::Zeros({3, 3, 16, 12})), HasSubstr("3 images in pixel_values, and"));
  EXPECT_THAT(refusal("pixel_values", Tensor::Zeros({2, 3, 3, 12})), HasSubstr("a patch is of 4"));
  EXPECT_THAT(refusal("visual_embeds", Tensor::Zeros({1, 1})), HasSubstr("'visual_embeds' is not an input"));
}

TEST_F(ForwardRegionsTest, RefusesWhatDoesNotFit) {
  const std::string model = FolderOf("vilbert/tasks");
  const std::map<std::string, Tensor> good = InputsOf(Safetensors(model + "/golden.safetensors"));
  const auto refusal = [&](const std::string& name, const Tensor& tensor) {
    std::map<std::string, Tensor> inputs = good;
    inputs[name] = tensor;
    if (tensor.empty()) inputs.erase(name);
    WriteInputs(inputs);
    const std::string error = RefusalOf({"forward", model, in, "--out", out});
    EXPECT_FALSE(std::filesystem::exists(out));
    return error;
  };
  const auto ints = [](std::vector<std::int32_t> values, const Shape& shape) {
    return Tensor::From(std::span<const std::int32_t>(values), shape);
  };
  EXPECT_THAT(refusal("image_feat", Tensor::Zeros({2, 5, 6})), HasSubstr("the shape [2, 5, 6]"));
  EXPECT_THAT(refusal("image_feat", Tensor::Zeros({3, 5, 7})), HasSubstr("must be [2, regions, features]"));
  EXPECT_THAT(refusal("image_feat", Tensor::Zeros({2, std::int64_t{1} << 40, 0})), HasSubstr("none of them 0"));
  EXPECT_THAT(refusal("image_feat", {}), HasSubstr("image_feat"));
  EXPECT_THAT(refusal("image_loc", Tensor::Zeros({2, 5, 4})), HasSubstr("be [2, 5, 5]"));
  EXPECT_THAT(refusal("image_attention_mask", ints({1, 1, 1, 1}, {2, 2})), HasSubstr("and must be [2, 5]"));
  EXPECT_THAT(refusal("image_attention_mask", ints({1, 0, 1, 0, 0, 1, 1, 1, 1, 1}, {2, 5})), HasSubstr("one run of 1"));
  EXPECT_THAT(refusal("task_ids", ints({1, 20}, {2, 1})), HasSubstr("20 is outside the 20"));
  EXPECT_THAT(refusal("task_ids", ints({1, 2, 3, 4}, {2, 2})), HasSubstr("and must be [2, 1]"));
  EXPECT_THAT(refusal("pixel_values", Tensor::Zeros({1, 1})), HasSubstr("'pixel_values' is not an input"));
  std::map<std::string, Tensor> inputs =
      InputsOf(Safetensors(FolderOf("visual_bert/pretraining") + "/golden.safetensors"));
  inputs.at("visual_token_type_ids").data<std::int32_t>()[0] = 3;
  WriteInputs(inputs);
  EXPECT_THAT(RefusalOf({"forward", FolderOf("visual_bert/pretraining"), in, "--out", out}),
              HasSubstr("3 is outside the 3"));
  // VisualBERT has no box inputs.
  inputs = InputsOf(Safetensors(FolderOf("visual_bert/encoder") + "/golden.safetensors"));
  inputs["visual_pos"] = Tensor::Zeros({2, 5, 4});
  WriteInputs(inputs);
  EXPECT_THAT(RefusalOf({"forward", FolderOf("visual_bert/encoder"), in, "--out", out}),
              HasSubstr("'visual_pos' is not an input"));
}

}  // namespace
}  // namespace headlight::forward_regions_test

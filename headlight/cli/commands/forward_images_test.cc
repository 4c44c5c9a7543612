#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <tuple>

#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"

namespace headlight::forward_images_test {
namespace {

using testing::HasSubstr;

struct ForwardImagesTest : testing::Test {
  static std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/images/" + name; }
  void WriteInputs(const std::map<std::string, Tensor>& inputs) const {
    std::vector<StoredTensor> stored;
    for (const auto& [name, tensor] : inputs) stored.push_back(Stored(name, tensor));
    WriteSafetensors(in, stored);
  }
  std::string RefusalOf(const std::string& model, const std::map<std::string, Tensor>& inputs) const {
    WriteInputs(inputs);
    const std::string refusal = headlight::RefusalOf({"forward", FolderOf(model), in, "--out", out});
    EXPECT_FALSE(std::filesystem::exists(out));
    return refusal;
  }

  const TemporaryFolder folder;
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
};

// Transposes [batch, height, width, channels] to [batch, channels, height, width].
Tensor ChannelsFirst(const Tensor& x) {
  const Shape& shape = x.shape();
  const Tensor y = Tensor::Empty({shape[0], shape[3], shape[1], shape[2]});
  const std::int64_t pixels = shape[1] * shape[2], channels = shape[3];
  for (std::int64_t i = 0; i < x.elements(); ++i)
    y.data<float>()[(i / channels / pixels * channels + i % channels) * pixels + i / channels % pixels] =
        x.data<float>()[i];
  return y;
}

// Compares the outputs with Transformers, for the folders of tools/make_image_encoder_goldens.py.
TEST_F(ForwardImagesTest, GivesWhatTransformersGives) {
  for (const char* name :
       {"vit", "deit_classes", "deit_distilled", "vit_masked", "vit_larger", "dinov2_masked", "dinov3"}) {
    const Safetensors golden(FolderOf(name) + "/golden.safetensors");
    std::map<std::string, Tensor> inputs = {{"pixel_values", ChannelsFirst(golden.Read("pixel_values"))}};
    if (golden.contains("bool_masked_pos")) inputs["bool_masked_pos"] = golden.Read("bool_masked_pos", DType::int32);
    WriteInputs(inputs);
    const Outcome outcome = RunProgram({"forward", FolderOf(name), in, "--out", out});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Safetensors given(out);
    int compared = 0;
    for (const auto& [output, tensor] : given.tensors()) {
      if (!golden.contains(output)) continue;
      const Tensor expected = golden.Read(output), actual = given.Read(output);
      ASSERT_EQ(actual.shape(), expected.shape()) << output;
      EXPECT_THAT(actual.ToVector<float>(), testing::Pointwise(testing::FloatNear(1e-4F), expected.ToVector<float>()))
          << name << ' ' << output;
      ++compared;
    }
    EXPECT_GE(compared, name == std::string("vit_masked") ? 3 : 4 - (name == std::string("vit_larger"))) << name;
    EXPECT_EQ(given.contains("cls_logits"), name == std::string("deit_distilled"));
    if (given.contains("cls_logits")) {
      const std::vector<float> one = given.Read("cls_logits").ToVector<float>(),
                               other = given.Read("distillation_logits").ToVector<float>(),
                               mean = given.Read("logits").ToVector<float>();
      for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(mean[i], (one[i] + other[i]) / 2, 1e-6);
      EXPECT_NE(one, other);
      // The first head uses the class token, and the second head uses the distillation token.
      const Safetensors weights(FolderOf(name) + "/model.safetensors");
      const Tensor hidden = given.Read("last_hidden_state");
      for (const auto& [head, logits, token] :
           {std::tuple("cls_classifier", &one, 0), std::tuple("distillation_classifier", &other, 1)}) {
        const Tensor weight = weights.Read(head + std::string(".weight")),
                     bias = weights.Read(head + std::string(".bias"));
        const std::int64_t labels = weight.rows(), tokens = hidden.shape()[1];
        ASSERT_EQ(std::ssize(*logits), hidden.shape()[0] * labels);
        for (std::int64_t i = 0; i < std::ssize(*logits); ++i) {
          const float* const state = hidden.matrix<float>().row(i / labels * tokens + token);
          const float* const row = weight.matrix<float>().row(i % labels);
          const double sum =
              std::inner_product(row, row + weight.columns(), state, double{bias.data<float>()[i % labels]});
          EXPECT_NEAR((*logits)[static_cast<std::size_t>(i)], sum, 1e-4) << head;
        }
      }
    }
    EXPECT_EQ(given.contains("reconstruction"), name == std::string("vit_masked"));
    if (!given.contains("reconstruction")) continue;
    // In the golden file, each row has the pixels of a patch, with one channel after another.
    const Tensor pixels = golden.Read("pixels"), image = given.Read("reconstruction");
    ASSERT_EQ(image.shape(), (Shape{2, 3, 8, 8}));
    for (std::int64_t patch = 0; patch < 8; ++patch)
      for (std::int64_t i = 0; i < 48; ++i) {
        const std::int64_t row = (patch / 4 * 3 + i / 16) * 8 + patch % 4 / 2 * 4 + i % 16 / 4;
        ASSERT_NEAR(image.matrix<float>().row(row)[patch % 2 * 4 + i % 4], pixels.matrix<float>().row(patch)[i], 1e-4);
      }
  }
}

// Compares the feature maps with Transformers, for the folders of tools/make_resnet_goldens.py. In the golden files, a
// stage has one row per cell.
TEST_F(ForwardImagesTest, GivesTheMapsOfAResnet) {
  const std::string name = "../resnets/downsampled_classes";
  const Safetensors golden(FolderOf(name) + "/golden.safetensors");
  WriteInputs({{"pixel_values", ChannelsFirst(golden.Read("pixel_values"))}});
  const Outcome outcome = RunProgram({"forward", FolderOf(name), in, "--out", out});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Safetensors given(out);
  const Tensor rows = golden.Read("use.stages.2"), maps = given.Read("last_hidden_state");
  ASSERT_EQ(maps.shape().rank(), 4);
  ASSERT_EQ(maps.elements(), rows.elements());
  const Tensor stages =
      rows.ViewAs({2, maps.shape()[2], maps.shape()[3], maps.shape()[1]});  // [batch, height, width, channels]
  EXPECT_THAT(maps.ToVector<float>(),
              testing::Pointwise(testing::FloatNear(1e-4F), ChannelsFirst(stages).ToVector<float>()));
  EXPECT_EQ(given.Read("pooler_output").shape(), (Shape{2, maps.shape()[1], 1, 1}));
  EXPECT_THAT(given.Read("logits").ToVector<float>(),
              testing::Pointwise(testing::FloatNear(1e-4F), golden.Read("use.logits").ToVector<float>()));
}

// Compares the outputs with Transformers, for the folders of tools/make_detector_goldens.py. Outputs at padding are 0
// in headlight, and are missing in the golden files.
TEST_F(ForwardImagesTest, GivesTheAnswersOfADetector) {
  for (const auto& [name, last] : {std::pair("detr", "1"), {"detr_padded", "1"}, {"detr_masks", "0"}}) {
    SCOPED_TRACE(name);
    const std::string model = std::string("../detectors/") + name;
    const Safetensors golden(FolderOf(model) + "/golden.safetensors");
    std::map<std::string, Tensor> inputs = {{"pixel_values", ChannelsFirst(golden.Read("pixel_values"))}};
    if (golden.contains("pixel_mask")) inputs["pixel_mask"] = golden.Read("pixel_mask", DType::int32);
    WriteInputs(inputs);
    const Outcome outcome = RunProgram({"forward", FolderOf(model), in, "--out", out});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Safetensors given(out);
    const auto compare = [&](const std::string& output, const std::string& expected) {
      std::vector<float> actual = given.Read(output).ToVector<float>(),
                         wanted = golden.Read(expected).ToVector<float>();
      // Remove zeros at padding. For attention weights, also remove values that are 0 except for rounding.
      const bool weights = output.find("attentions") != std::string::npos;
      if (weights || output == "encoder_last_hidden_state")
        for (std::vector<float>* numbers : {&actual, &wanted})
          std::erase_if(*numbers, [&](float number) { return number == 0 || (weights && number < 1e-20F); });
      EXPECT_THAT(actual, testing::Pointwise(testing::FloatNear(1e-3F), wanted)) << output;
    };
    compare("logits", std::string("logits.") + last);
    compare("pred_boxes", std::string("pred_boxes.") + last);
    for (const char* output : {"last_hidden_state", "encoder_last_hidden_state", "encoder_attentions.0",
                               "decoder_attentions.0", "cross_attentions.0"})
      compare(output, output);
    EXPECT_EQ(given.Read("last_hidden_state").shape().rank(), 3);
    EXPECT_EQ(given.Read("cross_attentions.0").shape().rank(), 4);
    EXPECT_EQ(given.contains("pred_masks"), golden.contains("pred_masks"));
    if (!golden.contains("pred_masks")) continue;
    compare("pred_masks", "pred_masks");
    EXPECT_EQ(given.Read("pred_masks").shape(), (Shape{2, 3, 17, 18}));
  }
  std::filesystem::remove(out);
  const std::string detr = "../detectors/detr_padded";
  const Tensor image = Tensor::Zeros({1, 3, 8, 8});
  const Tensor mask = Tensor::Zeros({1, 8, 8}, DType::int32);
  EXPECT_THAT(RefusalOf(detr, {{"pixel_values", image}, {"pixel_mask", mask}}), HasSubstr("hides all"));
  mask.span<std::int32_t>()[0] = 2;
  EXPECT_THAT(RefusalOf(detr, {{"pixel_values", image}, {"pixel_mask", mask}}), HasSubstr("must be 0 or 1"));
  EXPECT_THAT(RefusalOf(detr, {{"pixel_values", image}, {"pixel_mask", mask.ViewAs({1, 4, 16})}}),
              HasSubstr("must be [1, 8, 8]"));
  EXPECT_THAT(RefusalOf(detr, {{"pixel_mask", mask}}), HasSubstr("pixel_values"));
}

TEST_F(ForwardImagesTest, RefusesInputsThatAreNotABatch) {
  const auto mask = [](const Shape& shape, std::int32_t value) {
    const Tensor all = Tensor::Empty(shape, DType::int32);
    std::ranges::fill(all.span<std::int32_t>(), value);
    return all;
  };
  const Tensor image = Tensor::Zeros({1, 3, 8, 8});
  EXPECT_THAT(RefusalOf("vit", {{"bool_masked_pos", mask({1, 4}, 0)}}), HasSubstr("pixel_values"));
  EXPECT_THAT(RefusalOf("vit", {{"input_ids", mask({1, 4}, 0)}}), HasSubstr("'input_ids' is not an input"));
  for (const auto& [shape, rule] :
       std::vector<std::pair<Shape, const char*>>{{{3, 8, 8}, "[batch, channels, height, width]"},
                                                  {{0, 3, 8, 8}, "none of them 0"},
                                                  {{1, 8, 8, 3}, "8 channels, and the model reads 3"},
                                                  {{1, 3, 8, 3}, "8 x 3 pixels, and a patch is of 4 x 4"}})
    EXPECT_THAT(RefusalOf("vit", {{"pixel_values", Tensor::Zeros(shape)}}), HasSubstr(rule));
  const auto refusal_of_mask = [&](const char* model, const Tensor& masked) {
    return RefusalOf(model, {{"pixel_values", image}, {"bool_masked_pos", masked}});
  };
  EXPECT_THAT(refusal_of_mask("vit", mask({1, 4}, 1)), HasSubstr("no mask token"));
  EXPECT_THAT(refusal_of_mask("vit_masked", mask({1, 5}, 1)), HasSubstr("here [1, 4]"));
  EXPECT_THAT(refusal_of_mask("vit_masked", mask({1, 4}, 2)), HasSubstr("must be 0 or 1"));
  EXPECT_THAT(refusal_of_mask("vit_masked", Tensor::Zeros({1, 4})), HasSubstr("bool_masked_pos is F32"));
}

}  // namespace
}  // namespace headlight::forward_images_test

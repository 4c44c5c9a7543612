// Compares image encoders with Hugging Face Transformers. tools/make_image_encoder_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/dino.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/vit.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::image_encoder_parity_test {
namespace {

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/images/" + name; }

struct Golden {
  explicit Golden(const std::string& folder) : file(folder + "/golden.safetensors") {
    images = ImagesOf(file);
    if (file.contains("bool_masked_pos"))
      for (const std::int32_t one : file.Read("bool_masked_pos", DType::int32).ToVector<std::int32_t>())
        masked.push_back(one != 0);
  }
  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }

  Safetensors file;
  std::vector<Tensor> images;
  std::vector<std::uint8_t> masked;
};

void CompareWithGolden(ImageEncoder& model, const Golden& golden, double tolerance) {
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  std::vector<Numbers> attentions;
  context.hooks.attention = [&](const LayerAttention& seen) {
    attentions.resize(std::max<std::size_t>(attentions.size(), static_cast<std::size_t>(seen.layer) + 1));
    const Numbers weights = ToDouble(seen.weights);
    Numbers& layer = attentions[static_cast<std::size_t>(seen.layer)];
    layer.insert(layer.end(), weights.begin(), weights.end());
  };
  const EncodedImages encoded = model.Encode(context, golden.images, golden.masked);
  EXPECT_LT(Deviation(ToDouble(encoded.hidden), golden.Read("last_hidden_state")), tolerance);
  ASSERT_FALSE(attentions.empty());
  for (std::size_t layer = 0; layer < attentions.size(); ++layer)
    EXPECT_LT(Deviation(attentions[layer], golden.Read("attentions." + std::to_string(layer))), tolerance) << layer;
  Tensor loss = WeightedTotal(encoded.hidden);
  const auto compare = [&](const char* name, const Tensor& actual) {
    EXPECT_LT(Deviation(ToDouble(actual), golden.Read(name)), tolerance) << name;
    loss = ops::Add(loss, WeightedTotal(actual));
  };
  if (golden.file.contains("pooler_output")) compare("pooler_output", model.Pool(context, encoded));
  if (golden.file.contains("logits")) compare("logits", model.ClassLogits(context, encoded));
  if (golden.file.contains("pixels")) compare("pixels", model.Pixels(context, encoded));
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read("loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file)), tolerance);
}

class ImageEncoderParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(
    , ImageEncoderParity,
    testing::Combine(testing::Values("vit", "vit_larger", "vit_oblong", "vit_masked", "deit", "deit_classes",
                                     "deit_distilled", "deit_masked", "dino", "dinov2", "dinov2_classes",
                                     "dinov2_masked", "dinov2_registers", "dinov2_registers_classes",
                                     "dinov2_registers_larger", "dinov3", "dinov3_gated", "dinov3_masked"),
                     testing::Values(DType::float32, DType::float64)),
    kNameOfParity);

std::unique_ptr<ImageEncoder> NewInDouble(const ImageEncoder& model) {
  if (const auto* vit = dynamic_cast<const Vit*>(&model)) return std::make_unique<Vit>(vit->config(), DType::float64);
  return std::make_unique<Dino>(dynamic_cast<const Dino&>(model).config(), DType::float64);
}

TEST_P(ImageEncoderParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const std::string folder = FolderOf(name);
  const Golden golden(folder);
  const std::unique_ptr<ImageEncoder> model = LoadModel<ImageEncoder>(folder);
  if (dtype == DType::float32) return CompareWithGolden(*model, golden, 2e-5);
  const std::unique_ptr<ImageEncoder> in_double = NewInDouble(*model);
  LoadParameters(in_double->parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
  // The goldens and DINOv3's rotary angles in Transformers have single precision.
  CompareWithGolden(*in_double, golden, std::string_view(name).starts_with("dinov3") ? 4e-6 : 1e-6);
}

TEST_P(ImageEncoderParity, SavesAndLoads) {
  const std::unique_ptr<ImageEncoder> model = LoadModel<ImageEncoder>(FolderOf(std::get<0>(GetParam())));
  const TemporaryFolder folder;
  SaveAndReload(*model, folder.path());
}

// Checks that images of several sizes in one batch, without padding, give bit-identical results to single images.
TEST(ImageEncoder, IsBatchInvariant) {
  std::vector<Tensor> images;
  for (const auto& [height, width] : {std::pair(8, 8), std::pair(12, 20), std::pair(8, 8), std::pair(5, 7)}) {
    std::vector<float> pixels;
    for (int i = 0; i < height * width * 3; ++i) pixels.push_back(static_cast<float>(i * (height + i) % 29) / 10 - 1);
    images.push_back(Tensor::From(std::span<const float>(pixels), {height, width, 3}));
  }
  for (const char* name : {"deit_distilled", "dinov2_registers_classes", "dinov3"}) {
    const std::unique_ptr<const ImageEncoder> model = LoadModel<ImageEncoder>(FolderOf(name));
    Context context;
    const auto output = [&](std::span<const Tensor> batch) {
      const EncodedImages encoded = model->Encode(context, batch);
      return (model->heads().classes ? model->ClassLogits(context, encoded) : encoded.hidden).ToVector<float>();
    };
    std::vector<float> alone;
    for (const Tensor& image : images) {
      const std::vector<float> its = output({&image, 1});
      alone.insert(alone.end(), its.begin(), its.end());
    }
    EXPECT_EQ(output(images), alone) << name;
  }
}

TEST(ImageEncoder, RefusesUnsupportedInput) {
  const std::unique_ptr<const ImageEncoder> model = LoadModel<ImageEncoder>(FolderOf("vit"));
  Context context;
  const auto encode = [&](const Shape& shape, std::vector<std::uint8_t> masked = {}) {
    const Tensor image = Tensor::Zeros(shape);
    return ErrorOf([&] { model->Encode(context, {&image, 1}, masked); });
  };
  EXPECT_EQ(encode({8, 8, 3}), "");
  EXPECT_THAT(encode({8, 8, 1}), testing::HasSubstr("must be [height, width, 3], not [8, 8, 1]"));
  EXPECT_THAT(encode({3, 8, 3}), testing::HasSubstr("smaller than a patch of 4 x 4"));
  EXPECT_THAT(encode({8, 8, 3}, {1, 0, 0, 0}), testing::HasSubstr("no mask token"));
  const Tensor image = Tensor::Zeros({8, 8, 3});
  const EncodedImages encoded = model->Encode(context, {&image, 1});
  EXPECT_THAT(ErrorOf([&] { model->ClassLogits(context, encoded); }), testing::HasSubstr("this model has no classes"));
  EXPECT_THAT(ErrorOf([&] { model->Pixels(context, encoded); }), testing::HasSubstr("no head for masked pixels"));
  const std::unique_ptr<const ImageEncoder> dino = LoadModel<ImageEncoder>(FolderOf("dinov2"));
  EXPECT_THAT(ErrorOf([&] { dino->ClassLogits(context, encoded); }), testing::HasSubstr("this model has no classes"));
  EXPECT_THAT(ErrorOf([&] { dino->Pixels(context, encoded); }), testing::HasSubstr("no head for masked pixels"));
}

}  // namespace
}  // namespace headlight::image_encoder_parity_test

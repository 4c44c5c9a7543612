// Compares ResNets with Hugging Face Transformers. tools/make_resnet_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/inspect/relevance.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/resnet.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::resnet_parity_test {
namespace {

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/resnets/" + name; }

struct Golden {
  explicit Golden(const std::string& folder) : file(folder + "/golden.safetensors") { images = ImagesOf(file); }
  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }

  Safetensors file;
  std::vector<Tensor> images;
};

// Compares a model that uses running averages, or batch statistics if `training` is true.
void CompareWithGolden(Resnet& model, const Golden& golden, bool training, double tolerance) {
  const std::string prefix = training ? "train." : "use.";
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  if (training) context.training.emplace();
  const std::vector<FeatureMaps> maps =
      model.backbone()(context, MapsOf(golden.images, model.config().channels, model.parameters().dtype()));
  Tensor loss;
  const auto compare = [&](const std::string& name, const Tensor& actual) {
    EXPECT_LT(Deviation(ToDouble(actual), golden.Read(prefix + name)), tolerance) << prefix << name;
    loss = loss.empty() ? WeightedTotal(actual) : ops::Add(loss, WeightedTotal(actual));
  };
  for (std::size_t stage = 0; stage < maps.size(); ++stage)
    compare("stages." + std::to_string(stage), maps[stage].rows);
  std::vector<std::int32_t> lengths;
  for (const Grid& grid : maps.back().grids) lengths.push_back(static_cast<std::int32_t>(grid.cells()));
  const EncodedImages encoded = {maps.back().rows, PackedSequences(lengths), maps.back().grids};
  compare("pooler_output", model.Pool(context, encoded));
  if (golden.file.contains(prefix + "logits")) compare("logits", model.ClassLogits(context, encoded));
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read(prefix + "loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file, prefix + "gradient.")),
            tolerance)
      << prefix;
  if (!training) return;
  int averages = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    const std::string name = "train." + parameter.names.front();
    if (!golden.file.contains(name)) continue;
    EXPECT_LT(Deviation(ToDouble(parameter.value), golden.Read(name)), tolerance) << name;
    ++averages;
  }
  EXPECT_GT(averages, 0);
}

class ResnetParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, ResnetParity,
                         testing::Combine(testing::Values("bottleneck", "basic_classes", "downsampled_classes",
                                                          "backbone"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(ResnetParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const std::string folder = FolderOf(name);
  const Golden golden(folder);
  for (const bool training : {false, true}) {
    const std::unique_ptr<Resnet> model = LoadModel<Resnet>(folder);
    if (dtype == DType::float32) {
      CompareWithGolden(*model, golden, training, 2e-5);
      continue;
    }
    Resnet in_double(model->config(), dtype);
    LoadParameters(in_double.parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
    CompareWithGolden(in_double, golden, training, 1e-6);  // the goldens have single precision
  }
}

TEST_P(ResnetParity, SavesAndLoads) {
  const std::unique_ptr<ImageEncoder> model = LoadModel<ImageEncoder>(FolderOf(std::get<0>(GetParam())));
  const TemporaryFolder folder;
  SaveAndReload(*model, folder.path());
}

// Checks that folding a norm into packed weights only changes rounding, in every compute type and for quantized
// folders.
TEST_P(ResnetParity, ComputesWithFoldedNorms) {
  const std::string folder = FolderOf(std::get<0>(GetParam()));
  const Golden golden(folder);
  const std::vector<double> expected = golden.Read("use.stages.2");
  const auto encode = [&](const std::string& path, const LoadModelOptions& options) {
    const std::unique_ptr<ImageEncoder> model = LoadModel<ImageEncoder>(path, options);
    Context context;
    return ToDouble(model->Encode(context, golden.images).hidden);
  };
  EXPECT_LT(Deviation(encode(folder, {}), expected), 2e-5);
  const std::pair<Compute, double> tolerances[] = {
      {Compute::float32, 2e-5}, {Compute::bfloat16, 4e-2}, {Compute::int8, 5e-2}, {Compute::int4, 4e-1}};
  for (const auto& [compute, tolerance] : tolerances) {
    if (!kernels::CpuHas(compute)) continue;
    const std::vector<double> actual = encode(folder, {.compute = compute, .purpose = LoadFor::computing});
    EXPECT_LT(Deviation(actual, expected), tolerance) << Name(compute);
    if (!IsQuantized(compute)) continue;
    const TemporaryFolder quantized;
    LoadModel<Resnet>(folder)->Save(quantized.path(), compute);
    EXPECT_EQ(encode(quantized.path(), {.purpose = LoadFor::computing}), actual) << Name(compute);
  }
}

TEST(Resnet, ClassActivationIsGradCam) {
  for (const char* name : {"basic_classes", "downsampled_classes"}) {
    const Golden golden(FolderOf(name));
    const std::unique_ptr<ImageEncoder> model = LoadModel<ImageEncoder>(FolderOf(name));
    Context context;
    const EncodedImages first = model->Encode(context, {golden.images.data(), 1});
    const std::vector<float> actual = ClassActivation(*model, first, /*label=*/1);
    EXPECT_LT(Deviation(std::vector<double>(actual.begin(), actual.end()), golden.Read("use.class_activation")), 2e-5);
  }
}

// Checks that images of several sizes in one batch, without padding, give bit-identical results to single images.
TEST(Resnet, IsBatchInvariant) {
  for (const Compute compute : {Compute::float32, Compute::bfloat16, Compute::int8}) {
    if (!kernels::CpuHas(compute)) continue;
    const std::unique_ptr<const ImageEncoder> model =
        LoadModel<ImageEncoder>(FolderOf("downsampled_classes"), {.compute = compute, .purpose = LoadFor::computing});
    std::vector<Tensor> images;
    for (const auto& [height, width] : {std::pair(32, 32), std::pair(47, 90), std::pair(1, 1), std::pair(13, 7)}) {
      std::vector<float> pixels;
      for (int i = 0; i < height * width * 3; ++i) pixels.push_back(static_cast<float>(i * (height + i) % 29) / 10 - 1);
      images.push_back(Tensor::From(std::span<const float>(pixels), {height, width, 3}));
    }
    Context context;
    const Tensor together = model->ClassLogits(context, model->Encode(context, images));
    std::vector<float> alone;
    for (const Tensor& image : images) {
      const std::vector<float> logits =
          model->ClassLogits(context, model->Encode(context, {&image, 1})).ToVector<float>();
      alone.insert(alone.end(), logits.begin(), logits.end());
    }
    EXPECT_EQ(together.ToVector<float>(), alone) << Name(compute);
  }
}

TEST(Resnet, FeaturesAreMeansOfItsMaps) {
  const auto model = LoadModel<ImageEncoder>(FolderOf("downsampled_classes"));
  std::vector<Tensor> images;
  for (const std::int64_t width : {90, 150}) {
    images.push_back(Tensor::Empty({100, width, 3}));
    std::ranges::generate(images.back().span<float>(),
                          [i = 0]() mutable { return static_cast<float>(i++ % 29) / 10 - 1; });
  }
  Context context;
  const EncodedImages encoded = model->Encode(context, images);
  const Tensor features = model->Features(encoded);
  ASSERT_EQ(features.shape(), (Shape{2, encoded.hidden.columns()}));
  for (std::size_t image = 0; image < 2; ++image) {
    double sum = 0;
    const Sequence& cells = encoded.images[image];
    ASSERT_GT(cells.length, 1);
    for (std::int32_t cell = 0; cell < cells.length; ++cell)
      sum += encoded.hidden.matrix<float>().row(cells.row(cell))[1];
    EXPECT_NEAR(features.matrix<float>().row(static_cast<std::int64_t>(image))[1], sum / cells.length, 1e-5);
  }
}

// Checks timm's parameter names, which DETR's published folders use, and frozen norms.
TEST(ResnetBackbone, HasBothNamings) {
  const std::unique_ptr<Resnet> model = LoadModel<Resnet>(FolderOf("bottleneck"));
  Parameters parameters;
  const ResnetBackbone timm(Scope(parameters, "body"), model->config(), ResnetNames::timm, BatchStatistics::frozen);
  parameters.Allocate();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parameters.all().size(); ++i) {
    const Parameter& parameter = parameters.all()[i];
    names.push_back(parameter.names.front());
    EXPECT_EQ(parameter.role.trained, parameter.role.in_products) << parameter.names.front();
    parameter.value.CopyFrom(model->parameters().all()[i].value);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"body.conv1.weight", "body.bn1.running_var", "body.layer1.0.conv3.weight",
                                            "body.layer1.1.bn2.bias", "body.layer2.0.downsample.0.weight",
                                            "body.layer2.0.downsample.1.running_mean"}));
  const Golden golden(FolderOf("bottleneck"));
  Context context;
  context.training.emplace();
  const std::vector<FeatureMaps> maps = timm(context, MapsOf(golden.images, 3, DType::float32));
  EXPECT_LT(Deviation(ToDouble(maps.back().rows), golden.Read("use.stages.2")), 2e-5);
}

TEST(Resnet, RefusesUnsupportedInput) {
  const std::unique_ptr<const ImageEncoder> model = LoadModel<ImageEncoder>(FolderOf("bottleneck"));
  Context context;
  const auto encode = [&](const Shape& shape, std::vector<std::uint8_t> masked = {}) {
    const Tensor image = Tensor::Zeros(shape);
    return ErrorOf([&] { model->Encode(context, {&image, 1}, masked); });
  };
  EXPECT_EQ(encode({8, 8, 3}), "");
  EXPECT_THAT(encode({8, 8, 1}), testing::HasSubstr("3], not [8, 8, 1]"));
  EXPECT_THAT(encode({0, 8, 3}), testing::HasSubstr("not [0, 8, 3]"));
  EXPECT_THAT(encode({8, 8, 3}, {1}), testing::HasSubstr("no mask token"));
  const Tensor image = Tensor::Zeros({8, 8, 3});
  const EncodedImages encoded = model->Encode(context, {&image, 1});
  EXPECT_THAT(ErrorOf([&] { model->ClassLogits(context, encoded); }), testing::HasSubstr("this model has no classes"));
  EXPECT_THAT(ErrorOf([&] { model->Pixels(context, encoded); }), testing::HasSubstr("no head for masked pixels"));
}

TEST(Resnet, RefusesInvalidConfigurations) {
  const auto error = [](auto change) {
    ResnetConfig config;
    change(config);
    return ErrorOf([&] { const Resnet model(config); });
  };
  EXPECT_THAT(error([](ResnetConfig& config) { config.depths.pop_back(); }), testing::HasSubstr("stage, not 4 and 3"));
  EXPECT_THAT(error([](ResnetConfig& config) { config.hidden[0] = 3; }), testing::HasSubstr("a bottleneck needs 4"));
  EXPECT_THAT(error([](ResnetConfig& config) { config.depths[1] = 1024; }), testing::HasSubstr("at most 1024 layers"));
}

}  // namespace
}  // namespace headlight::resnet_parity_test

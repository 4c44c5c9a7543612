// Compares detectors with Hugging Face Transformers. tools/make_detector_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/detr.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::detector_parity_test {
namespace {

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/" + name; }

struct Golden {
  explicit Golden(const std::string& folder) : file(folder + "/golden.safetensors") {
    images = ImagesOf(file);
    if (!file.contains("pixel_mask")) return;
    const std::vector<std::int32_t> seen = file.Read("pixel_mask", DType::int32).ToVector<std::int32_t>();
    const std::ptrdiff_t cells = std::ssize(seen) / std::ssize(images);
    for (auto mask = seen.begin(); mask != seen.end(); mask += cells) masks.emplace_back(mask, mask + cells);
  }
  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }

  Safetensors file;
  std::vector<Tensor> images;
  std::vector<DetectionModel::PixelMask> masks;
};

void CompareWithGolden(DetectionModel& model, const Golden& golden, double tolerance) {
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  std::map<std::string, Numbers> attentions;
  context.hooks.attention = [&](const LayerAttention& seen) {
    const char* const kind = seen.kind == AttentionKind::encoder_self   ? "encoder_attentions."
                             : seen.kind == AttentionKind::decoder_self ? "decoder_attentions."
                                                                        : "cross_attentions.";
    const Numbers weights = ToDouble(seen.weights);
    Numbers& layer = attentions[kind + std::to_string(seen.layer)];
    layer.insert(layer.end(), weights.begin(), weights.end());
  };
  const DetectedImages found = model.Detect(context, golden.images, golden.masks, /*all_layers=*/true);
  EXPECT_LT(Deviation(ToDouble(found.memory), golden.Read("encoder_last_hidden_state")), tolerance);
  EXPECT_LT(Deviation(ToDouble(found.queries), golden.Read("last_hidden_state")), tolerance);
  std::size_t compared = 0;
  for (const auto& [name, tensor] : golden.file.tensors())
    if (name.find("attentions.") != std::string::npos) {
      EXPECT_LT(Deviation(attentions[name], golden.Read(name)), tolerance) << name;
      ++compared;
    }
  EXPECT_EQ(compared, attentions.size());
  Tensor loss = WeightedTotal(found.memory);
  for (std::size_t layer = 0; layer < found.layers.size(); ++layer) {
    const auto compare = [&](const std::string& name, const Tensor& actual) {
      EXPECT_LT(Deviation(ToDouble(actual), golden.Read(name)), tolerance) << name;
      loss = ops::Add(loss, WeightedTotal(actual));
    };
    compare("logits." + std::to_string(layer), found.layers[layer].logits);
    compare("pred_boxes." + std::to_string(layer), found.layers[layer].boxes);
  }
  if (golden.file.contains("pred_masks")) {
    std::vector<std::int32_t> queries(static_cast<std::size_t>(found.queries.rows()));
    std::iota(queries.begin(), queries.end(), 0);
    const Tensor masks = model.Masks(context, found, queries).rows;
    EXPECT_LT(Deviation(ToDouble(masks), golden.Read("pred_masks")), tolerance);
    loss = ops::Add(loss, WeightedTotal(masks));
  }
  EXPECT_FALSE(golden.file.contains("logits." + std::to_string(found.layers.size())));
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read("loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file)), tolerance);
}

class DetectorParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, DetectorParity,
                         testing::Combine(testing::Values("detr", "detr_padded", "detr_learned", "detr_masks"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(DetectorParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const std::string folder = FolderOf(name);
  const Golden golden(folder);
  const std::unique_ptr<Detr> model = LoadModel<Detr>(folder);
  if (dtype == DType::float32) return CompareWithGolden(*model, golden, 5e-5);
  Detr in_double(model->config(), dtype);
  LoadParameters(in_double.parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
  CompareWithGolden(in_double, golden, 1e-6);  // the goldens have single precision
}

TEST_P(DetectorParity, SavesAndLoads) {
  const std::unique_ptr<DetectionModel> model = LoadModel<DetectionModel>(FolderOf(std::get<0>(GetParam())));
  const TemporaryFolder folder;
  SaveAndReload(*model, folder.path());
  // These values must be written as integers, since Transformers accepts only integers.
  const JsonView config = ReadJson(folder.File("config.json"));
  for (const char* key : {"class_cost", "bbox_cost", "giou_cost", "bbox_loss_coefficient", "giou_loss_coefficient"})
    EXPECT_NE(config[key].value().As<std::int64_t>(), nullptr) << key;
}

std::vector<Tensor> ImagesOfSizes(const std::vector<std::pair<std::int64_t, std::int64_t>>& sizes) {
  std::vector<Tensor> images;
  for (const auto& [height, width] : sizes) {
    std::vector<float> pixels;
    for (std::int64_t i = 0; i < height * width * 3; ++i)
      pixels.push_back(static_cast<float>(i * (height + i) % 29) / 10 - 1);
    images.push_back(Tensor::From(std::span<const float>(pixels), {height, width, 3}));
  }
  return images;
}

// Checks that images of several sizes in one batch, without padding, give bit-identical results to single images.
TEST(ObjectDetector, IsBatchInvariant) {
  const std::unique_ptr<const DetectionModel> model = LoadModel<DetectionModel>(FolderOf("detr"));
  const std::vector<Tensor> images = ImagesOfSizes({{64, 40}, {33, 97}, {64, 40}, {20, 20}});
  Context context;
  const QueryAnswers together = model->Detect(context, images).layers.back();
  std::vector<float> logits, boxes;
  for (const Tensor& image : images) {
    const QueryAnswers alone = model->Detect(context, {&image, 1}).layers.back();
    const std::vector<float> its_logits = alone.logits.ToVector<float>(), its_boxes = alone.boxes.ToVector<float>();
    logits.insert(logits.end(), its_logits.begin(), its_logits.end());
    boxes.insert(boxes.end(), its_boxes.begin(), its_boxes.end());
  }
  EXPECT_EQ(together.logits.ToVector<float>(), logits);
  EXPECT_EQ(together.boxes.ToVector<float>(), boxes);
}

// Checks that weights with timm's names can be loaded, as in published checkpoints.
TEST(ObjectDetector, ReadsTimmsNames) {
  DetrConfig config = LoadModel<Detr>(FolderOf("detr"))->config();
  Detr ours(config);
  config.timm_backbone = "resnet50";
  Detr timms(config);
  ours.parameters().Initialize(1);
  timms.parameters().Allocate();
  std::vector<std::string> names;
  auto from = ours.parameters().all().begin();
  for (Parameter& parameter : timms.parameters().all()) {
    names.push_back(parameter.names.front());
    parameter.value.CopyFrom((from++)->value);
  }
  const std::string backbone = "model.backbone.conv_encoder.model.";
  EXPECT_THAT(names, testing::IsSupersetOf({backbone + "conv1.weight", backbone + "bn1.running_mean",
                                            backbone + "layer1.0.conv1.weight", backbone + "layer2.0.bn3.bias",
                                            backbone + "layer2.0.downsample.0.weight",
                                            backbone + "layer2.0.downsample.1.running_var"}));
  const std::vector<Tensor> images = ImagesOfSizes({{64, 40}});
  Context context;
  EXPECT_EQ(timms.Detect(context, images).layers.back().logits.ToVector<float>(),
            ours.Detect(context, images).layers.back().logits.ToVector<float>());
  // The configuration names the backbone, which is loaded as a ResNet-50 with the size of timm's model.
  const TemporaryFolder folder;
  timms.Save(folder.path());
  const JsonView written = ReadJson(folder.File("config.json"));
  EXPECT_TRUE(written["use_timm_backbone"].Bool());
  EXPECT_EQ(written["backbone"].String(), "resnet50");
  DetrConfig read;
  read.labels = {"a"};
  ReadConfig(written, read);
  EXPECT_EQ(read.timm_backbone, "resnet50");
  EXPECT_EQ(read.backbone.hidden.back(), 2048);
}

TEST(ObjectDetector, HasAnOptionalMaskHead) {
  DetrConfig config;
  config.timm_backbone = "resnet50";
  config.masks = true;
  config.labels = {"a"};
  std::vector<std::string> names;
  const Detr model(config);
  for (const Parameter& parameter : model.parameters().all()) names.push_back(parameter.names.front());
  EXPECT_THAT(names, testing::IsSupersetOf({"detr.model.backbone.conv_encoder.model.conv1.weight",
                                            "detr.bbox_predictor.layers.2.bias", "bbox_attention.q_linear.weight",
                                            "mask_head.lay5.weight", "mask_head.gn1.bias", "mask_head.adapter3.weight",
                                            "mask_head.out_lay.bias"}));
  Context context;
  EXPECT_THAT(ErrorOf([&] { LoadModel<DetectionModel>(FolderOf("detr"))->Masks(context, {}, {}); }),
              testing::HasSubstr("no masks"));
  config.model = 24;
  EXPECT_THAT(ErrorOf([&] { Detr{config}; }), testing::HasSubstr("masks have 12 channels"));
  config.model = 256;
  config.backbone.hidden = {256, 512};
  config.backbone.depths = {1, 1};
  EXPECT_THAT(ErrorOf([&] { Detr{config}; }), testing::HasSubstr("4 stages, not 2"));
}

// Checks equal labels. COCO's category ids have gaps, and all classes in the gaps have the same name.
TEST(ObjectDetector, AllowsEqualLabels) {
  DetrConfig config = LoadModel<Detr>(FolderOf("detr"))->config();
  config.labels = {"N/A", "person", "N/A"};
  Detr model(config);
  model.parameters().Initialize(1);
  const TemporaryFolder folder;
  model.Save(folder.path());
  EXPECT_EQ(LoadModel<Detr>(folder.path())->labels(), config.labels);
}

TEST(ObjectDetector, RefusesUnsupportedInput) {
  const std::unique_ptr<const DetectionModel> model = LoadModel<DetectionModel>(FolderOf("detr"));
  Context context;
  const auto detect = [&](const Shape& shape, std::vector<DetectionModel::PixelMask> masks = {}) {
    const Tensor image = Tensor::Zeros(shape);
    return ErrorOf([&] { model->Detect(context, {&image, 1}, masks); });
  };
  EXPECT_EQ(detect({8, 8, 3}), "");
  EXPECT_THAT(detect({8, 8, 1}), testing::HasSubstr("3], not [8, 8, 1]"));
  EXPECT_THAT(detect({8, 8, 3}, {{1, 1}}), testing::HasSubstr("a mask of 2 pixels"));
  EXPECT_THAT(detect({8, 8, 3}, {DetectionModel::PixelMask(64, 0)}), testing::HasSubstr("hides all"));
  const TemporaryFolder folder;
  const auto config_error = [&](const std::string& from, const std::string& to) {
    std::string config = ReadFile(FolderOf("detr") + "/config.json");
    WriteFile(folder.File("config.json"), config.replace(config.find(from), from.size(), to));
    const JsonView json = ReadJson(folder.File("config.json"));
    return ErrorOf([&] {
      DetrConfig read;
      read.labels = {"a"};
      ReadConfig(json, read);
    });
  };
  EXPECT_EQ(config_error("\"dilation\": false", "\"dilation\": false "), "");
  EXPECT_THAT(config_error("\"dilation\": false", "\"dilation\": true"), testing::HasSubstr("key 'dilation'"));
  EXPECT_THAT(config_error("\"d_model\": 8", "\"d_model\": 6"), testing::HasSubstr("heads"));
  EXPECT_THAT(config_error("\"num_queries\": 3", "\"num_queries\": 0"), testing::HasSubstr("key 'num_queries'"));
  EXPECT_THAT(config_error("\"model_type\": \"resnet\"", "\"model_type\": \"swin\""),
              testing::HasSubstr("key 'backbone_config.model_type'"));
  EXPECT_THAT(config_error("\"eos_coefficient\"", "\"alibi\""), testing::HasSubstr("alibi"));
}

}  // namespace
}  // namespace headlight::detector_parity_test

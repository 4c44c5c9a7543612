// Compares CLIP and SigLIP with Hugging Face Transformers. tools/make_clip_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/inspect/relevance.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/clip.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/siglip.h"
#include "headlight/ops/rms_norm.h"
#include "headlight/train/contrastive_loss.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::clip_parity_test {
namespace {

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/clip/" + name; }

// The texts of a golden file, without the masked tokens.
struct GoldenTexts {
  explicit GoldenTexts(const Safetensors& file) {
    const Tensor all = file.Read("input_ids", DType::int32);
    const bool masked = file.contains("attention_mask");
    const Tensor mask = masked ? file.Read("attention_mask", DType::int32) : Tensor();
    for (std::int64_t b = 0; b < all.rows(); ++b) {
      const auto begin = static_cast<std::int32_t>(ids.size());
      for (std::int64_t i = 0; i < all.columns(); ++i) {
        if (masked && mask.matrix<std::int32_t>().row(b)[i] == 0) continue;
        ids.push_back(all.matrix<std::int32_t>().row(b)[i]);
      }
      texts.push_back({begin, static_cast<std::int32_t>(ids.size()) - begin});
    }
  }

  std::vector<std::int32_t> ids;
  Sequences texts;
};

// Compares the relevance of each image's tokens for the similarity score of the image and the text with the same index.
void CompareRelevance(const DualEncoder& model, const Safetensors& golden, double tolerance) {
  const GoldenTexts given(golden);
  const std::vector<Tensor> images = ImagesOf(golden);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    Numbers actual;
    for (std::size_t i = 0; i < images.size(); ++i) {
      const Sequence& text = given.texts[i];
      const auto layers = TokenRelevance(
          model, images[i],
          std::span(given.ids).subspan(static_cast<std::size_t>(text.begin), static_cast<std::size_t>(text.length)));
      ASSERT_EQ(layers.size(), 2U);
      actual.insert(actual.end(), layers[layer].begin(), layers[layer].end());
    }
    const std::string name = "relevance." + std::to_string(layer);
    EXPECT_LT(Deviation(actual, ToDouble(golden.Read(name, DType::float64))), tolerance) << name;
  }
}

void CompareWithGolden(DualEncoder& model, const Safetensors& golden, double tolerance) {
  const auto read = [&](const std::string& name) { return ToDouble(golden.Read(name, DType::float64)); };
  if (golden.contains("relevance.0")) CompareRelevance(model, golden, tolerance);  // goldens of training mode have none
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  Tensor loss;
  const auto compare = [&](const std::string& name, const Tensor& actual) {
    EXPECT_LT(Deviation(ToDouble(actual), read(name)), tolerance) << name;
    loss = loss.empty() ? WeightedTotal(actual) : ops::Add(loss, WeightedTotal(actual));
  };
  Tensor images, texts;
  if (golden.contains("pixel_values")) {
    std::map<int, Numbers> layers;
    context.hooks.attention = [&](const LayerAttention& seen) {
      const Numbers weights = ToDouble(seen.weights);
      layers[seen.layer].insert(layers[seen.layer].end(), weights.begin(), weights.end());
    };
    const EncodedImages encoded = model.EncodeImages(context, ImagesOf(golden));
    EXPECT_EQ(layers.size(), 2U);
    for (const auto& [layer, weights] : layers)
      EXPECT_LT(Deviation(weights, read("image_attentions." + std::to_string(layer))), tolerance) << layer;
    compare("image_states", encoded.hidden);
    const Tensor pooled = model.PoolImages(context, encoded);
    if (golden.contains("image_pooled")) compare("image_pooled", pooled);
    images = model.ProjectImages(context, pooled);
    if (golden.contains("image_vectors")) compare("image_vectors", images);
  }
  if (golden.contains("input_ids")) {
    const GoldenTexts given(golden);
    int attentions = 0;
    context.hooks.attention = [&](const LayerAttention& seen) {
      const Tensor all = golden.Read("text_attentions." + std::to_string(seen.layer), DType::float64);
      const std::int64_t heads = all.shape()[1], longest = all.shape()[2], length = seen.weights.shape()[2];
      Numbers expected;
      for (std::int64_t head = 0; head < heads; ++head)
        for (std::int64_t query = 0; query < length; ++query) {
          const double* row = all.matrix<double>().row((seen.sequence * heads + head) * longest + query);
          expected.insert(expected.end(), row, row + length);
        }
      EXPECT_LT(Deviation(ToDouble(seen.weights), expected), tolerance);
      ++attentions;
    };
    const Tensor hidden = model.EncodeTexts(context, given.ids, given.texts);
    EXPECT_EQ(attentions, 2 * static_cast<int>(given.texts.size()));
    compare("text_states", hidden);
    const Tensor pooled = model.PoolTexts(context, hidden, given.ids, given.texts);
    if (golden.contains("text_pooled")) compare("text_pooled", pooled);
    texts = model.ProjectTexts(context, pooled);
    if (golden.contains("text_vectors")) compare("text_vectors", texts);
  }
  if (golden.contains("logits")) {
    images = ops::UnitRows(images);
    texts = ops::UnitRows(texts);
    compare("logits", model.Logits(context, texts, images));
    std::vector<std::int32_t> different(static_cast<std::size_t>(texts.rows()));
    std::iota(different.begin(), different.end(), 0);
    compare("contrastive",
            ContrastiveLoss(context, model, images, texts, different, 1.0 / static_cast<double>(texts.rows())));
  }
  EXPECT_LT(Deviation(ToDouble(loss), read("loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden)), tolerance);
}

class ClipParity : public testing::TestWithParam<std::tuple<const char*, DType>> {};
INSTANTIATE_TEST_SUITE_P(, ClipParity,
                         testing::Combine(testing::Values("clip", "clip_largest_id", "clip_text", "clip_text_projected",
                                                          "clip_vision", "clip_vision_projected", "siglip",
                                                          "siglip_larger", "siglip_text", "siglip_vision"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

std::unique_ptr<DualEncoder> NewInDouble(const DualEncoder& model) {
  if (const auto* clip = dynamic_cast<const Clip*>(&model))
    return std::make_unique<Clip>(clip->config(), DType::float64);
  return std::make_unique<Siglip>(dynamic_cast<const Siglip&>(model).config(), DType::float64);
}

TEST_P(ClipParity, EqualsTransformers) {
  const auto& [name, dtype] = GetParam();
  const Safetensors golden(FolderOf(name) + "/golden.safetensors");
  const std::unique_ptr<DualEncoder> model = LoadModel<DualEncoder>(FolderOf(name));
  if (dtype == DType::float32) return CompareWithGolden(*model, golden, 2e-5);
  const std::unique_ptr<DualEncoder> in_double = NewInDouble(*model);
  LoadParameters(in_double->parameters(), Safetensors(FolderOf(name) + "/model.safetensors"),
                 [](auto) { return true; });
  CompareWithGolden(*in_double, golden, 4e-6);  // the goldens and Transformers' softmax have single precision
}

TEST_P(ClipParity, SavesAndLoads) {
  const std::unique_ptr<DualEncoder> model = LoadModel<DualEncoder>(FolderOf(std::get<0>(GetParam())));
  const TemporaryFolder folder;
  SaveAndReload(*model, folder.path());
}

// Checks that images and texts of several sizes in one batch, without padding, give bit-identical results to single
// images and texts.
TEST(DualEncoder, IsBatchInvariant) {
  std::vector<Tensor> images;
  for (const auto& [height, width] : {std::pair(8, 8), std::pair(12, 20), std::pair(8, 8), std::pair(5, 7)}) {
    std::vector<float> pixels;
    for (int i = 0; i < height * width * 3; ++i) pixels.push_back(static_cast<float>(i * (height + i) % 29) / 10 - 1);
    images.push_back(Tensor::From(std::span<const float>(pixels), {height, width, 3}));
  }
  const std::vector<std::vector<std::int32_t>> texts = {
      {28, 4, 5, 6, 29, 7, 8, 9, 1}, {28, 9, 29}, {28, 4, 8, 29}, {28, 29}};
  for (const char* name : {"clip", "clip_largest_id", "siglip"}) {
    const std::unique_ptr<const DualEncoder> model = LoadModel<DualEncoder>(FolderOf(name));
    Context context;
    std::vector<float> images_alone, texts_alone;
    std::vector<std::int32_t> ids, lengths;
    const auto append = [](std::vector<float>& to, const Tensor& rows) {
      const std::vector<float> more = rows.ToVector<float>();
      to.insert(to.end(), more.begin(), more.end());
    };
    for (const Tensor& image : images) append(images_alone, model->ImageVectors(context, {&image, 1}));
    for (const std::vector<std::int32_t>& text : texts) {
      lengths.push_back(static_cast<std::int32_t>(text.size()));
      ids.insert(ids.end(), text.begin(), text.end());
      append(texts_alone, model->TextVectors(context, text, PackedSequences({&lengths.back(), 1})));
    }
    EXPECT_EQ(model->ImageVectors(context, images).ToVector<float>(), images_alone) << name;
    EXPECT_EQ(model->TextVectors(context, ids, PackedSequences(lengths)).ToVector<float>(), texts_alone) << name;
  }
}

TEST(DualEncoder, RefusesUnsupportedInput) {
  const std::unique_ptr<const DualEncoder> text = LoadModel<DualEncoder>(FolderOf("clip_text")),
                                           image = LoadModel<DualEncoder>(FolderOf("siglip_vision")),
                                           both = LoadModel<DualEncoder>(FolderOf("clip"));
  Context context;
  const Tensor pixels = Tensor::Zeros({8, 8, 3}), row = Tensor::Zeros({1, 12});
  const std::vector<std::int32_t> ids = {28, 5, 29}, other = {28, 30}, many(10, 4);
  EXPECT_THAT(ErrorOf([&] {
                text->ImageVectors(context, {&pixels, 1});
              }),
              testing::HasSubstr("has no tower for images"));
  EXPECT_THAT(ErrorOf([&] {
                image->TextVectors(context, ids, {{0, 3}});
              }),
              testing::HasSubstr("has no tower for texts"));
  EXPECT_THAT(ErrorOf([&] { text->PoolImages(context, {}); }), testing::HasSubstr("has no tower for images"));
  EXPECT_THAT(ErrorOf([&] { image->PoolTexts(context, row, ids, {}); }), testing::HasSubstr("has no tower for texts"));
  EXPECT_THAT(ErrorOf([&] { text->Logits(context, row, row); }), testing::HasSubstr("has one tower"));
  EXPECT_THAT(ErrorOf([&] { both->TextVectors(context, other, {{0, 2}}); }), testing::HasSubstr("30"));
  EXPECT_THAT(ErrorOf([&] {
                both->TextVectors(context, many, {{0, 10}});
              }),
              testing::HasSubstr("the model's 9 positions"));
  EXPECT_THAT(ErrorOf([&] { both->TextVectors(context, {}, {{0, 0}}); }), testing::HasSubstr("has no tokens"));
}

// Checks the standard deviations of the initial weights. As in OpenAI's program, they depend on a tower's width and
// depth. Only the patch positions are initialized differently.
TEST(Clip, IsInitializedByDepthAndWidth) {
  ClipConfig config;
  config.text->vocabulary = 500;
  config.text->model = config.text->ffn = 128;
  config.text->heads = config.image->heads = 4;
  config.text->layers = config.image->layers = 2;
  config.image->model = config.image->ffn = 160;
  config.vector = 96;
  Clip model(config);
  model.parameters().Initialize(1);
  const NamedNumbers values = ByName(model.parameters(), &Parameter::value);
  for (const auto& [name, expected] :
       std::map<std::string, double>{{"text_model.embeddings.token_embedding.weight", 0.02},
                                     {"text_model.embeddings.position_embedding.weight", 0.01},
                                     {"text_model.encoder.layers.1.self_attn.q_proj.weight", std::sqrt(1 / 128.0)},
                                     {"text_model.encoder.layers.1.self_attn.out_proj.weight", std::sqrt(0.25 / 128)},
                                     {"text_model.encoder.layers.1.mlp.fc1.weight", std::sqrt(0.5 / 128)},
                                     {"text_model.encoder.layers.1.mlp.fc2.weight", std::sqrt(0.25 / 128)},
                                     {"text_projection.weight", std::sqrt(1 / 128.0)},
                                     {"vision_model.encoder.layers.0.mlp.fc2.weight", std::sqrt(0.25 / 160)},
                                     {"vision_model.embeddings.position_embedding.weight", 1},
                                     {"visual_projection.weight", std::sqrt(1 / 160.0)}}) {
    ASSERT_TRUE(values.contains(name)) << name;
    double squares = 0;
    for (const double value : values.at(name)) squares += value * value;
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(values.at(name).size())), expected, 0.05 * expected) << name;
  }
}

// Returns the error of loading the weights of `name` with changed settings in config.json.
std::string ErrorOfConfig(const std::string& name, const std::string& key, const std::string& from,
                          const std::string& to) {
  const TemporaryFolder folder;
  std::string config = ReadFile(FolderOf(name) + "/config.json");
  const std::size_t index = config.find(from, config.find(key));
  config.replace(index, from.size(), to);
  WriteFile(folder.path() + "/config.json", config);
  WriteFile(folder.path() + "/model.safetensors", ReadFile(FolderOf(name) + "/model.safetensors"));
  return ErrorOf([&] { LoadModel<DualEncoder>(folder.path()); });
}

TEST(DualEncoder, NamesInvalidSettings) {
  EXPECT_THAT(ErrorOfConfig("clip", "text_config", "\"attention_dropout\"", "\"alibi\""),
              testing::HasSubstr("key 'text_config': unknown key: 'alibi'"));
  EXPECT_THAT(ErrorOfConfig("clip", "vision_config", "\"num_attention_heads\": 3", "\"num_attention_heads\": 4"),
              testing::HasSubstr("4 does not divide 15"));
  EXPECT_THAT(ErrorOfConfig("clip", "\"projection_dim\": 10,\n  \"text_config\"", "10", "11"),
              testing::HasSubstr("visual_projection.weight"));
  EXPECT_THAT(ErrorOfConfig("siglip", "vision_config", "\"vision_use_head\": true", "\"vision_use_head\": false"),
              testing::HasSubstr("without its attention pooling"));
  EXPECT_THAT(ErrorOfConfig("siglip", "projection_size", "15", "12"), testing::HasSubstr("not in one space"));
  // Older files contain a tower's settings twice, and the second copy has priority.
  EXPECT_EQ(ErrorOfConfig("clip", "model_type", "\"text_config\"",
                          "\"text_config\": {\"hidden_size\": 7}, \"text_config_dict\""),
            "");
}

}  // namespace
}  // namespace headlight::clip_parity_test

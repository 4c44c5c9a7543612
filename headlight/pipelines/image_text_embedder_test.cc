#include "headlight/pipelines/image_text_embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_classifier.h"

namespace headlight::dual_embedder_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kTexts = {"A dog runs.", "two cats", "", "A dog or two"};

struct DualEmbedderTest : testing::TestWithParam<const char*> {
  DualEmbedderTest() {
    if (std::string_view(GetParam()) == "clip")
      SaveTinyClip(folder.path());
    else
      SaveTinySiglip(folder.path());
  }
  TemporaryFolder folder;
  const std::vector<Image> images = {Pattern(9, 7), Pattern(30, 20), Pattern(8, 8), Pattern(3, 40)};
};
INSTANTIATE_TEST_SUITE_P(, DualEmbedderTest, testing::Values("clip", "siglip"),
                         [](const auto& which) { return which.param; });

TEST_P(DualEmbedderTest, EqualsTheModelsScoresOfPairs) {
  const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder.path());
  const Tensor vectors = embedder.EmbedImages(images).vectors, texts = embedder.EmbedTexts(kTexts).vectors;
  for (const Tensor& all : {vectors, texts})
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::vector<float> one = all.ViewRows(i, 1).ToVector<float>();
      EXPECT_NEAR(std::inner_product(one.begin(), one.end(), one.begin(), 0.0), 1, 1e-5);
    }
  const std::vector<float> scores = embedder.Probabilities(vectors, texts).ToVector<float>();
  const auto model = LoadModel<DualEncoder>(folder.path());
  Context context;
  const Tensor logits = model->Logits(context, vectors, texts);
  for (std::int64_t i = 0; i < 4; ++i) {
    const float* const row = logits.matrix<float>().row(i);
    double sum = 0;
    for (int j = 0; j < 4; ++j) sum += std::exp(static_cast<double>(row[j]));
    for (int j = 0; j < 4; ++j) {
      const double e = std::exp(static_cast<double>(row[j]));
      const double expected = model->limits().scores == DualEncoder::Scores::softmax ? e / sum : e / (1 + e);
      EXPECT_NEAR(scores[static_cast<std::size_t>(i * 4 + j)], expected, 1e-5);
    }
  }
}

TEST_P(DualEmbedderTest, IsBatchInvariant) {
  for (const Compute compute : {Compute::float32, Compute::int8, Compute::int4}) {
    const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder.path(), {.compute = compute});
    const std::vector<float> texts = embedder.EmbedTexts(kTexts).vectors.ToVector<float>(),
                             all = embedder.EmbedImages(images).vectors.ToVector<float>();
    for (const std::int64_t size : {1, 30, 500}) {
      EXPECT_EQ(embedder.EmbedTexts(kTexts, {.batch_tokens = size}).vectors.ToVector<float>(), texts);
      EXPECT_EQ(embedder.EmbedImages(images, {.batch_pixels = size}).vectors.ToVector<float>(), all);
    }
    std::vector<float> alone;
    for (const std::string& text : kTexts) {
      const std::vector<float> one = embedder.EmbedTexts({&text, 1}).vectors.ToVector<float>();
      alone.insert(alone.end(), one.begin(), one.end());
    }
    EXPECT_EQ(alone, texts);
  }
}

// Checks that the vectors of all templates are averaged, and that the mean is normalized (Radford et al., 2021, section
// 3.1.4).
TEST_P(DualEmbedderTest, AveragesTemplates) {
  const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder.path());
  const Tensor classes = embedder.EmbedLabels({"dog", "cat"}, {"a {}", "the {} and the {}."});
  const Tensor texts = embedder.EmbedTexts({"a cat", "the cat and the cat."}).vectors;
  std::vector<double> mean;
  double squares = 0;
  for (std::int64_t i = 0; i < classes.columns(); ++i) {
    mean.push_back(static_cast<double>(texts.matrix<float>().row(0)[i]) + texts.matrix<float>().row(1)[i]);
    squares += mean.back() * mean.back();
  }
  for (std::int64_t i = 0; i < classes.columns(); ++i)
    EXPECT_NEAR(classes.matrix<float>().row(1)[i], mean[static_cast<std::size_t>(i)] / std::sqrt(squares), 1e-5);
  EXPECT_EQ(embedder.EmbedLabels({"dog"}, {"{}"}).ToVector<float>().size(),
            static_cast<std::size_t>(embedder.dimension()));
  EXPECT_THAT(ErrorOf([&] { embedder.EmbedLabels({"dog"}, {"a photo"}); }), HasSubstr("has no {}"));
  EXPECT_THAT(ErrorOf([&] { embedder.EmbedLabels({}, {"{}"}); }), HasSubstr("no label"));
}

TEST_P(DualEmbedderTest, ClassifiesByLabels) {
  const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder.path());
  const std::vector<std::string> labels = {"dog", "cat", "bird"}, templates = {"a {}", "the {}."};
  const ImageClassifier classifier = ImageClassifier::LoadZeroShot(folder.path(), labels, templates);
  const Tensor scores =
      embedder.Probabilities(embedder.EmbedImages(images).vectors, embedder.EmbedLabels(labels, templates));
  EXPECT_EQ(classifier.Scores(images).ToVector<float>(), scores.ToVector<float>());
  EXPECT_EQ(classifier.Classify(images), LabelScores(scores, labels));
  EXPECT_EQ(classifier.Classify(images[1], {.top_k = 2}).size(), 2U);
  EXPECT_EQ(embedder.EmbedText("dog"), embedder.EmbedTexts({"dog"}).vectors.ToVector<float>());
  EXPECT_EQ(embedder.EmbedImage(images[0]), embedder.EmbedImages({images[0]}).vectors.ToVector<float>());
}

TEST_P(DualEmbedderTest, RefusesTextsThatAreTooLong) {
  const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder.path());
  std::string text = "dog";
  for (int i = 0; i < 40; ++i) text += " dog";
  EXPECT_THAT(ErrorOf([&] { embedder.EmbedTexts({"dog", text}); }), HasSubstr("text 2: "));
  const Embeddings cut = embedder.EmbedTexts({"dog", text}, {.truncate = true});
  EXPECT_THAT(cut.truncated, testing::ElementsAre(1));
  EXPECT_THAT(ErrorOf([&] { embedder.EmbedTexts({"\xff"}); }), HasSubstr("text 1"));
  EXPECT_THAT(ErrorOf([&] { embedder.EmbedImages({Image{}}); }), HasSubstr("image 1"));
}

// SigLIP attends to padding, so texts must be padded with the tokenizer's padding token.
TEST(ImageTextEmbedder, PadsWithTheTokenizersPaddingToken) {
  const TemporaryFolder folder;
  SaveTinySiglip(folder.path());
  const std::vector<float> before =
      ImageTextEmbedder::Load(folder.path()).EmbedTexts({"dog"}).vectors.ToVector<float>();
  WriteFile(folder.File("tokenizer_config.json"), R"({"tokenizer_class": "SiglipTokenizer", "pad_token": "<pad>"})");
  EXPECT_NE(ImageTextEmbedder::Load(folder.path()).EmbedTexts({"dog"}).vectors.ToVector<float>(), before);
}

TEST(ImageTextEmbedder, LoadsOneTower) {
  for (const bool text : {true, false}) {
    const TemporaryFolder folder;
    SaveTinyClip(folder.path());
    ClipConfig config = LoadModel<Clip>(folder.path())->config();
    text ? config.image.reset() : config.text.reset();
    Clip model(config);
    model.parameters().Initialize(1);
    model.Save(folder.path());
    const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder.path());
    EXPECT_EQ(embedder.reads_texts(), text);
    EXPECT_EQ(embedder.reads_images(), !text);
    EXPECT_EQ(embedder.dimension(), 10);
    const std::string error =
        text ? ErrorOf([&] { embedder.EmbedImages({Pattern(8, 8)}); }) : ErrorOf([&] { embedder.EmbedTexts({"dog"}); });
    EXPECT_THAT(error, HasSubstr(text ? "no tower for images" : "no tower for texts"));
    EXPECT_EQ(ErrorOf([&] { embedder.EmbedFitted({}); }).empty(), !text);
    if (text)
      EXPECT_EQ(embedder.EmbedTexts({"dog"}).vectors.shape(), (Shape{1, 10}));
    else
      EXPECT_EQ(embedder.EmbedImages({Pattern(8, 8)}).vectors.shape(), (Shape{1, 10}));
  }
}

}  // namespace
}  // namespace headlight::dual_embedder_test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/image/colors.h"
#include "headlight/image/processor.h"
#include "headlight/image/testing.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_testing.h"
#include "headlight/pipelines/testing.h"

namespace headlight::image_tasks_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

struct ImageTasks : testing::Test {
  ImageTasks() { SaveTinyVit(folder.path()); }
  // Returns the logits and the hidden state of the class token for one image, computed by the model without a pipeline.
  std::pair<std::vector<float>, std::vector<float>> Direct(const Image& image) const {
    const auto model = LoadModel<ImageEncoder>(folder.path());
    const ImageProcessor processor = LoadImageProcessor(folder.path());
    const Tensor values[] = {processor.Values(processor.Fit(image))};
    Context context;
    const EncodedImages encoded = model->Encode(context, values);
    return {model->ClassLogits(context, encoded).ToVector<float>(), encoded.hidden.ViewRows(0, 1).ToVector<float>()};
  }
  void SetProblem(const std::string& problem) const {
    SaveTinyVit(folder.path());
    std::string config = ReadFile(folder.File("config.json"));
    WriteFile(folder.File("config.json"), config.insert(1, "\"problem_type\": \"" + problem + "\","));
  }

  TemporaryFolder folder;
  const std::vector<Image> images = {Pattern(9, 7), Pattern(30, 20), Pattern(8, 8), Pattern(3, 40), Pattern(12, 5)};
};

TEST_F(ImageTasks, EqualTheModel) {
  const ImageClassifier classifier = ImageClassifier::Load(folder.path());
  EXPECT_THAT(classifier.labels(), testing::ElementsAre("cat", "dog", "bird"));
  const Tensor scores = classifier.Scores(images);
  EXPECT_EQ(classifier.Classify(images), LabelScores(scores, classifier.labels()));
  EXPECT_EQ(classifier.Classify(images[1]), classifier.Classify(images)[1]);
  EXPECT_EQ(classifier.Classify({images[1]}, {.top_k = 1})[0].size(), 1U);
  const Tensor vectors = ImageEmbedder::Load(folder.path()).Embed(images).vectors;
  ASSERT_EQ(scores.shape(), (Shape{5, 3}));
  ASSERT_EQ(vectors.shape(), (Shape{5, 16}));
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto [logits, state] = Direct(images[static_cast<std::size_t>(i)]);
    EXPECT_THAT(vectors.ViewRows(i, 1).ToVector<float>(), testing::ElementsAreArray(state));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit);
    for (std::size_t label = 0; label < 3; ++label)
      EXPECT_NEAR(scores.ViewRows(i, 1).ToVector<float>()[label], std::exp(logits[label]) / sum, 1e-6);
  }
}

TEST_F(ImageTasks, AreBatchInvariant) {
  const auto same = []<typename Options>(const std::vector<Image>& read, const auto& task, const auto& run, Options) {
    const std::vector<float> all = run(task, std::span(read), Options{});
    for (const std::int64_t pixels : {1, 64, 130, 1000})
      EXPECT_EQ(run(task, std::span(read), Options{.batch_pixels = pixels}), all);
    std::vector<float> alone;
    for (const Image& image : read) {
      const std::vector<float> one = run(task, std::span(&image, 1), Options{});
      alone.insert(alone.end(), one.begin(), one.end());
    }
    EXPECT_EQ(alone, all);
  };
  const auto scores = [](const auto& task, auto which, const auto& options) {
    return task.Scores(which, options).template ToVector<float>();
  };
  const auto vectors = [](const auto& task, auto which, const auto& options) {
    return task.Embed(which, options).vectors.template ToVector<float>();
  };
  for (const Compute compute : {Compute::float32, Compute::int8, Compute::int4}) {
    same(images, ImageClassifier::Load(folder.path(), {.compute = compute}), scores, ClassifyImageOptions());
    same(images, ImageEmbedder::Load(folder.path(), {.compute = compute}), vectors, EmbedImageOptions());
  }
  // Checks images of different sizes.
  WriteFile(folder.File("preprocessor_config.json"),
            R"({"image_processor_type": "ViTImageProcessor", "do_resize": false})");
  same({images[0], images[1], images[2], images[4]}, ImageEmbedder::Load(folder.path()), vectors, EmbedImageOptions());
}

TEST_F(ImageTasks, GiveTheSameInTwoSteps) {
  const ImageClassifier classifier = ImageClassifier::Load(folder.path());
  std::vector<Image> fitted;
  for (const Image& image : images) fitted.push_back(classifier.Fit(image));
  EXPECT_EQ(classifier.ClassifyFitted(fitted), classifier.Classify(images));
  const ImageEmbedder embedder = ImageEmbedder::Load(folder.path());
  EXPECT_EQ(embedder.EmbedFitted({&fitted[0], 1}).vectors.ToVector<float>(), embedder.Embed(images[0]));
}

TEST_F(ImageTasks, MakeScoresForTheProblemType) {
  const std::vector<float> logits = Direct(images[0]).first;
  SetProblem("multi_label_classification");
  EXPECT_NEAR(ImageClassifier::Load(folder.path()).Scores({images[0]}).ToVector<float>()[1],
              1 / (1 + std::exp(-logits[1])), 1e-6);
  SetProblem("regression");
  EXPECT_EQ(ImageClassifier::Load(folder.path()).Scores({images[0]}).ToVector<float>(), logits);
}

// Checks that an error about a wrong value names its file.
TEST_F(ImageTasks, NameInconsistentFiles) {
  const auto error = [&] { return ErrorOf([&] { ImageClassifier::Load(folder.path()); }); };
  WriteFile(folder.File("preprocessor_config.json"),
            R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 3, "width": 8}})");
  EXPECT_THAT(error(), testing::AllOf(testing::StartsWith(folder.path()), HasSubstr("8 x 3 pixels")));
  SaveTinyVit(folder.path());
  const std::string path = folder.File("config.json");
  std::string config = ReadFile(path);
  for (const char* label : {"\"dog\"", "\"cat\""}) {
    const std::size_t at = config.find(label);
    ASSERT_NE(at, std::string::npos);
    config.replace(at, 5, "\"cow\"");
  }
  const std::size_t numbers = config.find("label2id");
  ASSERT_NE(numbers, std::string::npos);
  config.replace(numbers, 8, "_numbers");
  WriteFile(path, config);
  EXPECT_THAT(error(), testing::AllOf(testing::StartsWith(path), HasSubstr("same label")));
}

TEST_F(ImageTasks, RefuseInvalidInput) {
  const ImageClassifier classifier = ImageClassifier::Load(folder.path());
  EXPECT_THAT(ErrorOf([&] { classifier.Classify({images[0], Image{}}); }), HasSubstr("image 2: 0 x 0"));
  EXPECT_THAT(ErrorOf([&] { classifier.Classify(images, {.batch_pixels = 0}); }), HasSubstr("batch_pixels"));
  EXPECT_TRUE(classifier.Classify(std::span<const Image>()).empty());
  EXPECT_THAT(ErrorOf([&] { ImageClassifier::Load(folder.path(), {.draft = true}); }), HasSubstr("draft"));
  EXPECT_THAT(ErrorOf([&] { ImageClassifier::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify"); }),
              HasSubstr("image encoder"));
  DamageWeights(folder.path());
  EXPECT_THAT(ErrorOf([&] {
                ImageClassifier::Load(folder.path()).Classify(images, {.name_of = [](std::size_t) { return "a.jpg"; }});
              }),
              HasSubstr("classifying a.jpg"));
  SaveTinyVit(folder.path(), /*classes=*/false);
  EXPECT_THAT(ErrorOf([&] { ImageClassifier::Load(folder.path()); }), EndsWith("head for classes of images"));
  ImageEmbedder::Load(folder.path());
  std::filesystem::remove(folder.File("preprocessor_config.json"));
  EXPECT_THAT(ErrorOf([&] { ImageEmbedder::Load(folder.path()); }), HasSubstr("preprocessor_config.json"));
}

TEST(ImageGptClasses, DependOnTheImagesColors) {
  const TemporaryFolder folder;
  std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/imagegpt_classes", folder.path(),
                        std::filesystem::copy_options::recursive);
  std::vector<PaletteColor> colors;
  for (int i = 0; i < 22; ++i) colors.push_back({-1 + 2 * static_cast<float>(i) / 21, 0, 0});
  const auto save = [&](ImageSize size) {
    WriteFile(folder.File("preprocessor_config.json"), ColorProcessorConfig(size, colors).Text());
  };
  save({4, 6});
  const auto model = LoadModel<ImageGpt>(folder.path());
  std::vector<Image> images(3, Image{.height = 4, .width = 6});
  std::vector<float> expected;
  for (std::size_t p = 0; p < images.size(); ++p) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < 24; ++i) {
      ids.push_back(static_cast<std::int32_t>((i * (p + 3) + p) % 22));
      const auto bytes = BytesOf(colors[static_cast<std::size_t>(ids.back())]);
      images[p].pixels.insert(images[p].pixels.end(), bytes.begin(), bytes.end());
    }
    Context context;
    const Tensor scores = ops::Softmax(model->ClassLogits(context, model->Decode(context, ids, {{0, 24}}), {{0, 24}}));
    const std::vector<float> row = scores.ToVector<float>();
    expected.insert(expected.end(), row.begin(), row.end());
  }
  const ImageClassifier classifier = ImageClassifier::Load(folder.path());
  EXPECT_THAT(classifier.labels(), testing::ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
  EXPECT_EQ(classifier.Scores(images).ToVector<float>(), expected);
  EXPECT_EQ(classifier.Scores(images, {.batch_pixels = 1}).ToVector<float>(), expected);
  EXPECT_NE(std::vector<float>(expected.begin(), expected.begin() + 3),
            std::vector<float>(expected.begin() + 3, expected.begin() + 6));
  save({5, 6});
  EXPECT_THAT(ErrorOf([&] { ImageClassifier::Load(folder.path()); }), HasSubstr("at most 24 pixels"));
  colors.pop_back();
  save({4, 6});
  EXPECT_THAT(ErrorOf([&] { ImageClassifier::Load(folder.path()); }), HasSubstr("in 22 colors"));
  SaveTinyImageGpt(folder.path());
  EXPECT_THAT(ErrorOf([&] { ImageClassifier::Load(folder.path()); }), EndsWith("head for classes of images"));
}

}  // namespace
}  // namespace headlight::image_tasks_test

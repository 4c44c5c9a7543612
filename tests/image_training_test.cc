// Tests the training of a ViT classifier. A resumed run and a run with another number of threads must end with
// bit-identical parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/models/dino.h"
#include "headlight/models/resnet.h"
#include "headlight/models/vit.h"
#include "headlight/train/objectives/image_classification.h"
#include "headlight/train/trainer.h"

namespace headlight::image_training_test {
namespace {

constexpr std::int64_t kSide = 12;

// Writes images in files that contain only the pixels. Images have noise and a bright row (class 0) or a bright column
// (class 1) at a random position.
void WriteImages(const TemporaryFolder& folder, const std::string& set, int count, std::uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const std::string location = fmt::format("{}/{}", folder.File(set), i % 2 == 0 ? "row" : "column");
    std::filesystem::create_directories(location);
    const std::uint64_t bright = random.Below(kSide);
    std::string pixels;
    for (std::uint64_t y = 0; y < kSide; ++y)
      for (std::uint64_t x = 0; x < kSide; ++x) {
        const auto value = static_cast<char>(random.Below(100) + ((i % 2 == 0 ? y : x) == bright ? 120 : 0));
        pixels += std::string(3, value);
      }
    WriteFile(fmt::format("{}/{}.png", location, i), pixels);
  }
}

Image OfPixels(std::span<const std::byte> file, const std::string&) {
  Image image{.height = kSide, .width = kSide};
  image.pixels.resize(file.size());
  std::memcpy(image.pixels.data(), file.data(), file.size());
  return image;
}

ImageProcessor Processor() {
  return {.resize = {.kind = ResizeRule::Kind::exact, .size = {kSide, kSide}},
          .crop = {},
          .scale = 1.0 / 255,
          .mean = {0.5F, 0.5F, 0.5F},
          .deviation = {0.5F, 0.5F, 0.5F}};
}

std::unique_ptr<Vit> SmallVit(std::int64_t patch = 4) {
  VitConfig config;
  config.model = 32;
  config.layers = 2;
  config.heads = 2;
  config.ffn = 64;
  config.image = {kSide, kSide};
  config.patch = {patch, patch};
  config.classes = true;
  config.labels = {"column", "row"};
  auto model = std::make_unique<Vit>(config);
  model->parameters().Initialize(3);
  return model;
}

struct ImageTraining : testing::Test {
  ImageTraining() {
    WriteImages(folder, "train", 200, 1);
    WriteImages(folder, "valid", 60, 2);
  }

  ImageSet Read(const std::string& set, std::int64_t memory) {
    return ImageSet(ListLabeledImages({folder.File(set)}, labels, NewLabels::added), OfPixels, {}, memory);
  }

  // Returns the parameter values after training. Unless `stop` is 0, training is interrupted after `stop` steps and
  // resumed.
  std::vector<float> Train(std::int64_t epochs, std::int64_t stop, int threads, std::int64_t memory,
                           ValidationReport* last = nullptr) {
    const int before = Threads();
    SetThreads(threads);
    const ImageSet train = Read("train", memory), valid = Read("valid", memory);
    const std::string checkpoint = folder.File(fmt::format("checkpoint-{}-{}-{}", stop, threads, memory));
    std::unique_ptr<Vit> model;
    for (const bool resume : {false, true}) {
      if (resume && stop == 0) break;
      model = SmallVit();
      const TrainingTask task = ImageClassificationTask(*model, Processor(), train, valid,
                                                        {.batches = {.batch_size = 64},
                                                         .augmentation = {.padding = 1, .flip = 0.5},
                                                         .erasing = 0.1,
                                                         .mix = {.mixup = 0.1, .cutmix = 0.1},
                                                         .label_smoothing = 0.05,
                                                         .drop_path = 0.1});
      TrainingOptions options;
      options.schedule = {.kind = ScheduleKind::cosine, .warmup = 10, .peak = 4e-3, .total = epochs * 4};
      options.epochs = epochs;
      std::int64_t steps = 0;
      const TrainingObserver observer{.step = {},
                                      .progress = [&](const StepReport& report) { steps = report.step; },
                                      .validation =
                                          [&](const ValidationReport& report) {
                                            if (last != nullptr) *last = report;
                                          },
                                      .note = {},
                                      .stop = [&] { return !resume && stop > 0 && steps >= stop; }};
      headlight::Train(task, options,
                       {.checkpoint = checkpoint, .run = Json::Object{}, .save_best = {}, .save_last = {}}, resume,
                       observer);
    }
    SetThreads(before);
    return model->parameters().values().ToVector<float>();
  }

  TemporaryFolder folder;
  std::vector<std::string> labels;
};

TEST_F(ImageTraining, FitsClasses) {
  ValidationReport last;
  Train(25, 0, 2, ImageSet::kMemory, &last);
  EXPECT_EQ(last.score_name, "accuracy");
  EXPECT_GT(last.score, 90);
  ASSERT_EQ(last.classes.size(), 2U);
  EXPECT_EQ(last.classes[0].name, "column");
  EXPECT_EQ(last.classes[0].count, 30);
}

TEST_F(ImageTraining, EndsWithTheSameBits) {
  const std::vector<float> expected = Train(3, 0, 2, ImageSet::kMemory);
  EXPECT_EQ(Train(3, 6, 2, ImageSet::kMemory), expected);  // resumed within the second epoch
  EXPECT_EQ(Train(3, 0, 1, ImageSet::kMemory), expected);
  EXPECT_EQ(Train(3, 0, 5, 0), expected);  // images are decoded in each epoch
}

// Checks mixing of each image with the previous one, which is often in another micro-batch.
TEST_F(ImageTraining, MicroBatchesAreMixedAsTheirBatch) {
  const ImageSet train = Read("train", ImageSet::kMemory);
  // Uses many tokens per image, so that a batch has several micro-batches.
  const std::unique_ptr<Vit> model = SmallVit(/*patch=*/1);
  const auto rows_of_batch = [&](const MixOptions& mix, bool targets) {
    const TrainingTask task = ImageClassificationTask(*model, Processor(), train, train,
                                                      {.batches = {.batch_size = 50}, .augmentation = {}, .mix = mix});
    std::vector<std::vector<float>> rows;
    const TrainingBatch batch = task.batches({})();
    EXPECT_GT(batch.parts.size(), 2U);
    for (const TrainingPart& part : batch.parts) {
      const auto made = Made(part).As<ImageBatch>();
      const Tensor& all = targets ? made.targets : made.values;
      for (std::int64_t i = 0; i < all.shape()[0]; ++i) rows.push_back(all.ViewRows(i, 1).ToVector<float>());
    }
    return rows;
  };
  for (const bool targets : {false, true}) {
    const auto plain = rows_of_batch({}, targets), mixed = rows_of_batch({.mixup = 1}, targets);
    ASSERT_EQ(plain.size(), 50U);
    double share = -1;  // weight of the image itself
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::vector<float>&own = plain[i], &before = plain[(i + 49) % 50];
      for (std::size_t k = 0; k < own.size(); ++k) {
        if (share < 0 && own[k] != before[k])
          share = static_cast<double>(mixed[i][k] - before[k]) / static_cast<double>(own[k] - before[k]);
        if (share < 0) continue;
        const double expected = share * static_cast<double>(own[k]) + (1 - share) * static_cast<double>(before[k]);
        ASSERT_NEAR(mixed[i][k], expected, 1e-4) << "image " << i;
      }
    }
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 1);
  }
}

TEST_F(ImageTraining, NamesAnImageThatIsDamagedMeanwhile) {
  const ImageSet train = Read("train", 0), valid = Read("valid", 0);
  const std::string damaged = train.name(17);
  std::filesystem::remove(damaged);
  const std::unique_ptr<Vit> model = SmallVit();
  const TrainingTask task = ImageClassificationTask(*model, Processor(), train, valid, {});
  const std::function<TrainingBatch()> next = task.batches({});
  const auto make_all = [&] {
    for (const TrainingPart& part : next().parts) Made(part);
  };
  EXPECT_TRUE(ErrorOf(make_all).starts_with(damaged)) << ErrorOf(make_all);
}

TEST(GiveClasses, MakesAClassifierOfADinoBackbone) {
  DinoConfig config;
  config.model = 16;
  config.layers = 1;
  config.heads = 2;
  config.ffn_factor = 2;
  config.image = {kSide, kSide};
  config.patch = {4, 4};
  config.scope = "";
  Dino backbone(config);
  backbone.parameters().Initialize(4);
  const std::unique_ptr<ImageEncoder> classifier = GiveClasses(backbone, {"a", "b"}, 9);
  EXPECT_EQ(classifier->labels().size(), 2U);
  EXPECT_EQ(classifier->parameters().all()[0].names[0], "dinov2.embeddings.cls_token");
  EXPECT_EQ(classifier->parameters().all()[0].value.ToVector<float>(),
            backbone.parameters().all()[0].value.ToVector<float>());
  config.kind = DinoKind::v3;
  EXPECT_THAT(ErrorOf([&] { GiveClasses(Dino(config), {"a", "b"}, 9); }), testing::HasSubstr("DINOv3"));
}

// Checks that the running statistics of the norms are kept.
TEST(GiveClasses, MakesAClassifierOfAResnet) {
  ResnetConfig config = {.embedding = 4, .hidden = {4, 8}, .depths = {1, 1}, .bottleneck = false, .scope = ""};
  Resnet backbone(config);
  backbone.parameters().Initialize(4);
  backbone.parameters().Unpack();
  for (const Parameter& parameter : backbone.parameters().all()) parameter.value.Fill(2);
  backbone.parameters().Pack();
  const std::unique_ptr<ImageEncoder> classifier = GiveClasses(backbone, {"a", "b", "c"}, 9);
  EXPECT_EQ(classifier->labels().size(), 3U);
  ASSERT_EQ(classifier->parameters().all().size(), backbone.parameters().all().size() + 2);
  for (const Parameter& parameter : classifier->parameters().all()) {
    const bool head = parameter.names[0].starts_with("classifier.1");
    EXPECT_TRUE(head || parameter.names[0].starts_with("resnet.")) << parameter.names[0];
    if (!head) {
      EXPECT_EQ(parameter.value.ToVector<float>(),
                std::vector<float>(static_cast<std::size_t>(parameter.value.elements()), 2))
          << parameter.names[0];
    }
  }
}

TEST(GiveClasses, RemovesTheClassesOfAResnet) {
  Resnet classifier(
      {.embedding = 4, .hidden = {4, 8}, .depths = {1, 1}, .bottleneck = false, .classes = true, .labels = {"a", "b"}});
  classifier.parameters().Initialize(4);
  const std::unique_ptr<ImageEncoder> encoder = GiveClasses(classifier, {}, 9);
  EXPECT_TRUE(encoder->labels().empty());
  ASSERT_EQ(encoder->parameters().all().size() + 2, classifier.parameters().all().size());
  EXPECT_EQ(encoder->parameters().all()[0].value.ToVector<float>(),
            classifier.parameters().all()[0].value.ToVector<float>());
}

TEST(GiveClasses, KeepsTheEncoderAndInitializesAHead) {
  const std::unique_ptr<Vit> model = SmallVit();
  const std::unique_ptr<ImageEncoder> other = GiveClasses(*model, {"a", "b", "c"}, 9);
  EXPECT_EQ(other->labels(), (std::vector<std::string>{"a", "b", "c"}));
  int kept = 0, anew = 0;
  for (const Parameter& parameter : other->parameters().all())
    for (const Parameter& own : model->parameters().all()) {
      if (own.names != parameter.names) continue;
      if (own.shape == parameter.shape && own.value.ToVector<float>() == parameter.value.ToVector<float>())
        ++kept;
      else
        ++anew;
    }
  EXPECT_EQ(anew, 2);
  EXPECT_EQ(kept, static_cast<int>(model->parameters().all().size()) - 2);
  // The following encoder has no classes, and its parameter names have no prefix.
  VitConfig alone = model->config();
  alone.classes = false;
  alone.labels = {};
  alone.scope = "";
  Vit encoder(alone);
  encoder.parameters().Initialize(4);
  const std::unique_ptr<ImageEncoder> classifier = GiveClasses(encoder, {"a", "b"}, 9);
  EXPECT_EQ(classifier->parameters().all()[0].value.ToVector<float>(),
            encoder.parameters().all()[0].value.ToVector<float>());
  EXPECT_EQ(classifier->parameters().all()[0].names[0], "vit.embeddings.cls_token");
}

}  // namespace
}  // namespace headlight::image_training_test

// Tests contrastive training: the loss of a batch that is computed in micro-batches, and training of a small CLIP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "headlight/base/file.h"
#include "headlight/base/sequences.h"
#include "headlight/base/test_support.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/models/clip.h"
#include "headlight/models/family.h"
#include "headlight/models/siglip.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/train/contrastive_loss.h"
#include "headlight/train/gradients.h"
#include "headlight/train/objectives/contrastive.h"
#include "headlight/train/objectives/pair_training.h"
#include "headlight/train/trainer.h"
#include "tests/parity_testing.h"

namespace headlight::contrastive_training_test {
namespace {

using testing::HasSubstr;

const std::pair<const char*, std::array<std::uint8_t, 3>> kColors[] = {
    {"red", {230, 20, 20}},     {"green", {20, 200, 30}}, {"blue", {20, 40, 230}},
    {"white", {250, 250, 250}}, {"black", {5, 5, 5}},     {"yellow", {240, 230, 20}}};

// Images of two colors, one above the other, with two texts for each image.
struct Pairs {
  Pairs() {
    std::string lines;
    for (const auto& [above, top] : kColors)
      for (const auto& [below, bottom] : kColors) {
        Image image{.height = 8, .width = 8};
        for (int row = 0; row < 8; ++row)
          for (int column = 0; column < 8; ++column)
            for (const std::uint8_t byte : row < 4 ? top : bottom) image.pixels.push_back(byte);
        const std::string name = fmt::format("{}_{}.png", above, below);
        WritePng(folder.File(name), image);
        lines += fmt::format("{}\t{} above {}\n{}\t{} below {}\n", name, above, below, name, below, above);
      }
    WriteFile(folder.File("pairs.tsv"), lines);
  }
  ImageTextSet Set() const {
    return ImageTextSet(ListImageTexts({folder.File("pairs.tsv")}),
                        [](auto file, const std::string& name) { return DecodeImage(file, name); });
  }
  TemporaryFolder folder;
};

struct Tiny {
  explicit Tiny(const std::string& kind) {
    kind == "clip" ? SaveTinyClip(folder.path()) : SaveTinySiglip(folder.path());
    model = LoadModel<DualEncoder>(folder.path());
    processor = LoadImageProcessor(folder.path());
    texts.emplace(WholeTexts::Load(folder.path(), model->limits().positions, model->limits().filled));
  }
  TemporaryFolder folder;
  std::unique_ptr<DualEncoder> model;
  ImageProcessor processor;
  std::optional<WholeTexts> texts;
};

class Contrastive : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Contrastive, testing::Values("clip", "siglip"),
                         [](const auto& which) { return which.param; });

// Checks one micro-batch, two micro-batches, micro-batches of different sizes, and single pairs.
TEST_P(Contrastive, HasTheSameGradientInMicroBatches) {
  const Pairs pairs;
  const ImageTextSet set = pairs.Set();
  NamedNumbers expected;
  double loss = 0;
  for (const std::int64_t part :
       {std::numeric_limits<std::int64_t>::max(), std::int64_t{18}, std::int64_t{7}, std::int64_t{1}}) {
    Tiny tiny(GetParam());
    const TrainingTask task = ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set,
                                              {.batches = {.batch_size = 36}, .part = part});
    const TrainingBatch batch = task.batches({})();
    ASSERT_EQ(batch.parts.size(), 1U);
    EXPECT_EQ(batch.labels, 36);
    tiny.model->parameters().PrepareTraining();
    const double own =
        ComputeGradients(tiny.model->parameters(), task.loss, batch.parts, {.labels = batch.labels, .seed = 1});
    const NamedNumbers gradients = ByName(tiny.model->parameters(), &Parameter::gradient);
    if (expected.empty()) {
      expected = gradients;
      loss = own;
      double largest = 0;
      for (const auto& [name, numbers] : gradients)
        for (const double number : numbers) largest = std::max(largest, std::abs(number));
      EXPECT_GT(largest, 1e-3);
    }
    EXPECT_NEAR(own, loss, 1e-6 * loss) << part;
    EXPECT_LT(Deviation(gradients, expected), 2e-6) << part;
  }
}

// Returns images of three colors, more than a validation computes in one pass. Two in three images have a hard
// negative, which may equal the text of another image. Some images have only one text.
ImageTextSet SetWithHardNegatives(const TemporaryFolder& folder) {
  std::string lines;
  int number = 0;
  for (const auto& [above, top] : kColors)
    for (const auto& [between, middle] : kColors)
      for (const auto& [below, bottom] : kColors) {
        if (above == between || ++number > 150) continue;
        Image image{.height = 8, .width = 8};
        for (int row = 0; row < 8; ++row)
          for (int column = 0; column < 8; ++column)
            for (const std::uint8_t byte : row < 3 ? top : row < 5 ? middle : bottom) image.pixels.push_back(byte);
        WritePng(folder.File(fmt::format("{}.png", number)), image);
        const std::string miss = fmt::format(", \"hard_negatives\": \"{} {} {}\"", between, above, below);
        const std::string text = number % 25 == 0 ? "red red red" : fmt::format("{} {} {}", above, between, below);
        lines +=
            fmt::format("{{\"path\": \"{}.png\", \"text\": \"{}\"{}}}\n", number, text, number % 3 == 0 ? "" : miss);
      }
  WriteFile(folder.File("near.jsonl"), lines);
  return ImageTextSet(ListImageTexts({folder.File("near.jsonl")}),
                      [](auto file, const std::string& name) { return DecodeImage(file, name); });
}

// Compares the scores with a loss and recalls that are computed for each image and each text separately.
TEST_P(Contrastive, ScoresHardNegatives) {
  const TemporaryFolder folder;
  const ImageTextSet set = SetWithHardNegatives(folder);
  ASSERT_EQ(set.size(), 150);
  Tiny tiny(GetParam());
  std::vector<std::string> texts, misses;
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    images.push_back(tiny.processor.Values(tiny.processor.Fit(set[i])));
    texts.push_back(set.texts(i)[0]);
    if (!set.hard_negatives(i)[0].empty()) misses.push_back(set.hard_negatives(i)[0]);
  }
  EXPECT_EQ(misses.size(), 100U);
  texts.insert(texts.end(), misses.begin(), misses.end());
  std::vector<std::int32_t> ids, lengths;
  for (const std::string& text : texts) {
    const std::vector<std::int32_t> own = (*tiny.texts)(text).ids;
    ids.insert(ids.end(), own.begin(), own.end());
    lengths.push_back(static_cast<std::int32_t>(own.size()));
  }
  Context context;
  const Tensor logits = tiny.model->Logits(context, tiny.model->ImageVectors(context, images),
                                           tiny.model->TextVectors(context, ids, PackedSequences(lengths)));
  const auto at = [&](std::int64_t image, std::int64_t text) {
    return static_cast<double>(logits.matrix<float>().row(image)[text]);
  };
  double loss = 0, texts_found = 0, images_found = 0;
  int equal = 0;
  for (std::int64_t i = 0; i < 150; ++i) {
    double of_texts = 0, of_images = 0;
    bool first_text = true, first_image = true;
    for (std::int64_t j = 0; j < 250; ++j) {
      const bool same = texts[static_cast<std::size_t>(j)] == texts[static_cast<std::size_t>(i)];
      equal += same && i != j ? 1 : 0;
      if (same && i != j) continue;  // an equal text is neither positive nor negative
      of_texts += std::exp(at(i, j));
      first_text &= i == j || at(i, j) < at(i, i);
      if (j < 150) {
        of_images += std::exp(at(j, i));
        first_image &= i == j || at(j, i) < at(i, i);
      }
      const double sign = i == j ? 1 : -1;
      if (std::string_view(GetParam()) == "siglip") loss += std::log1p(std::exp(-sign * at(i, j)));
    }
    if (std::string_view(GetParam()) == "clip") loss += (std::log(of_texts) + std::log(of_images)) / 2 - at(i, i);
    texts_found += first_text ? 100.0 / 150 : 0;
    images_found += first_image ? 100.0 / 150 : 0;
  }
  EXPECT_GT(equal, 50);
  const ValidationReport report = ValidatePairs(*tiny.model, tiny.processor, *tiny.texts, set);
  EXPECT_NEAR(report.loss, loss / 150, 1e-4 * loss / 150);
  EXPECT_NEAR(report.more_scores[0].value, texts_found, 1.4);  // rounding may order two equal scores differently
  EXPECT_NEAR(report.more_scores[1].value, images_found, 1.4);
  // The first training batch must have the same loss.
  const TrainingTask task =
      ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set, {.batches = {.batch_size = 150}, .part = 64});
  const TrainingBatch batch = task.batches({})();
  tiny.model->parameters().PrepareTraining();
  const double trained =
      ComputeGradients(tiny.model->parameters(), task.loss, batch.parts, {.labels = batch.labels, .seed = 1});
  EXPECT_NEAR(trained, loss / 150, 1e-4 * loss / 150);
}

// Checks two images and three texts. The last text has no image. Texts 0 and 2 are equal, or all texts are equal.
TEST(SigmoidPairLoss, IgnoresEqualTexts) {
  const Tensor logits = Tensor::From<double>({1, 2, 3, 4, 5, 6}, {3, 2});
  const auto loss = [&](const std::vector<std::int32_t>& first) {
    return SigmoidPairLoss(logits, first, 2).data<double>()[0];
  };
  const auto cost = [](double logit) { return std::log1p(std::exp(logit)); };
  const double pairs = cost(-1) + cost(-4);
  EXPECT_NEAR(loss({0, 1, 2}), 2 * (pairs + cost(2) + cost(3) + cost(5) + cost(6)), 1e-9);
  EXPECT_NEAR(loss({0, 1, 0}), 2 * (pairs + cost(2) + cost(3) + cost(6)), 1e-9);
  EXPECT_NEAR(loss({0, 0, 0}), 2 * pairs, 1e-9);
}

// Checks that recomputation uses the same random numbers for dropout. Otherwise the gradient would not be the gradient
// of the loss.
TEST_P(Contrastive, RecomputesWithTheSameDropout) {
  const Pairs pairs;
  const ImageTextSet set = pairs.Set();
  Tiny tiny(GetParam());
  tiny.model = LoadModel<DualEncoder>(tiny.folder.path(), {.dropout = {.attention = 0.3}});
  const TrainingTask task =
      ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set, {.batches = {.batch_size = 36}, .part = 7});
  const TrainingBatch batch = task.batches({})();
  Parameters& parameters = tiny.model->parameters();
  parameters.PrepareTraining();
  const auto run = [&] {
    return ComputeGradients(parameters, task.loss, batch.parts, {.labels = batch.labels, .seed = 5});
  };
  run();
  // A step along the gradient increases the loss by the step size times the gradient's squared norm.
  double squares = 0;
  std::vector<Tensor> gradients;
  for (const Parameter& parameter : parameters.all()) {
    gradients.push_back(parameter.gradient.Clone());
    for (const float number : gradients.back().span<float>()) squares += static_cast<double>(number) * number;
  }
  const auto loss_at = [&](double step) {
    std::size_t i = 0;
    for (const Parameter& parameter : parameters.all()) {
      const std::span<float> values = parameter.value.span<float>(), gradient = gradients[i++].span<float>();
      for (std::size_t j = 0; j < values.size(); ++j) values[j] += static_cast<float>(step) * gradient[j];
      parameter.gradient.Fill(0);
    }
    return run();
  };
  const double step = 2e-3 / std::sqrt(squares);
  const double above = loss_at(step), below = loss_at(-2 * step);
  EXPECT_NEAR((above - below) / (2 * step * squares), 1, 0.03);
}

// Returns the loss of the first batch of an epoch, which contains all pairs.
double LossOf(const TrainingTask& task, std::int64_t epoch) {
  const TrainingBatch batch = task.batches({.epoch = epoch})();
  Context context;
  return task.loss(context, Made(batch.parts.at(0)), 1.0 / static_cast<double>(batch.labels)).data<float>()[0];
}

TEST_P(Contrastive, SamplesTextsAndCrops) {
  const Pairs pairs;
  const ImageTextSet set = pairs.Set();
  Tiny tiny(GetParam());
  const auto loss = [&](double least_share, std::int64_t epoch) {
    return LossOf(ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set,
                                  {.batches = {.batch_size = 36}, .least_share = least_share}),
                  epoch);
  };
  // The order of the pairs affects the loss only through rounding.
  const double first = loss(1, 0);
  EXPECT_EQ(loss(1, 0), first);
  EXPECT_GT(std::abs(loss(1, 1) - first), 1e-4 * first);
  EXPECT_GT(std::abs(loss(0.2, 0) - first), 1e-4 * first);
}

TEST_P(Contrastive, FitsPairs) {
  const Pairs pairs;
  const ImageTextSet set = pairs.Set();
  Tiny tiny(GetParam());
  const ValidationReport before = ValidatePairs(*tiny.model, tiny.processor, *tiny.texts, set);
  EXPECT_EQ(before.labels, 36);
  EXPECT_LT(before.score, 50);
  const TrainingTask task =
      ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set, {.batches = {.batch_size = 36}, .part = 20});
  // Initially, the sigmoid's bias makes nearly all pairs negative.
  const std::int64_t steps = std::string_view(GetParam()) == "clip" ? 200 : 800;
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = 10, .peak = 1e-2, .total = steps};
  options.adam.clip_norm = 1;
  options.steps = steps;
  options.validate_every = steps;
  const TemporaryFolder out;
  Train(task, options,
        {.checkpoint = out.File("checkpoint"), .run = Json::Object{}, .save_best = [] {}, .save_last = [] {}}, false,
        {});
  tiny.model->parameters().Pack();
  const ValidationReport after = ValidatePairs(*tiny.model, tiny.processor, *tiny.texts, set);
  EXPECT_GT(after.score, 95);
  EXPECT_EQ(after.score_name, "recall");
  EXPECT_DOUBLE_EQ(after.score, (after.more_scores[0].value + after.more_scores[1].value) / 2);
  // Recall at 1 must not exceed recall at 10.
  for (const ValidationReport& report : {before, after})
    for (const std::size_t i : {0, 1}) {
      EXPECT_EQ(report.more_scores[i + 2].name, report.more_scores[i].name + "_at_10");
      EXPECT_GE(report.more_scores[i + 2].value, report.more_scores[i].value);
    }
  EXPECT_GT(before.more_scores[3].value, before.more_scores[1].value);
  EXPECT_LT(after.loss, before.loss / 2);
}

TEST(PairRanks, CountWrongColumnsWithAtLeastTheScoreOfTheRightOne) {
  const float nan = std::nanf("");
  const Tensor logits = Tensor::From<float>({3, 2, 1, 0, 1, 2, 3, 0, 5, 5, 5, 5, 1, nan, 0, 2}, {4, 4});
  const auto own = [](std::int64_t row, std::int64_t column) { return row == column; };
  EXPECT_EQ(RanksOf(logits, own), (std::vector<std::int64_t>{0, 1, 3, 1}));
  const auto first_two = [](std::int64_t, std::int64_t column) { return column < 2; };
  EXPECT_EQ(RanksOf(logits, first_two), (std::vector<std::int64_t>{0, 1, 2, 1}));
  const Tensor none = Tensor::From<float>({nan, nan}, {1, 2});
  EXPECT_EQ(RanksOf(none, own), (std::vector<std::int64_t>{1}));
}

TEST(ContrastiveTemperature, StaysBelowItsBound) {
  const Pairs pairs;
  const ImageTextSet set = pairs.Set();
  Tiny tiny("clip");
  const TrainingTask task = ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set, {});
  float& scale = tiny.model->logit_scale()->value.data<float>()[0];
  EXPECT_NEAR(scale, std::log(1 / 0.07), 1e-4);
  task.after_step(1, 2);
  EXPECT_NEAR(scale, std::log(1 / 0.07), 1e-4);
  scale = 7;
  task.after_step(1, 2);
  EXPECT_NEAR(std::exp(scale), 100, 1e-3);
}

TEST(ContrastiveTask, DecodesOnlyTheImagesOfItsMicroBatch) {
  const Pairs pairs;
  std::atomic<int> decoded = 0;
  const DecodeBytes decode = [&](std::span<const std::byte> file, const std::string& name) {
    ++decoded;
    return DecodeImage(file, name);
  };
  const ImageTextSet set(ListImageTexts({pairs.folder.File("pairs.tsv")}), decode, {}, /*memory=*/0);
  decoded = 0;
  Tiny tiny("clip");
  const TrainingTask task =
      ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set, {.batches = {.batch_size = 12}});
  const TrainingBatch batch = task.batches({})();
  EXPECT_EQ(decoded, 0);
  Made(batch.parts.at(0));
  EXPECT_EQ(decoded, 12);
}

TEST(ContrastiveTask, NamesInvalidOptions) {
  const Pairs pairs;
  const ImageTextSet set = pairs.Set();
  Tiny tiny("clip");
  const auto error = [&](const ContrastiveOptions& options) {
    return ErrorOf([&] { ContrastiveTask(*tiny.model, tiny.processor, *tiny.texts, set, set, options); });
  };
  EXPECT_THAT(error({.batches = {.batch_size = 1}}), HasSubstr("at least 2 pairs"));
  EXPECT_THAT(error({.batches = {}, .part = 0}), HasSubstr("at least 1 pair"));
}

}  // namespace
}  // namespace headlight::contrastive_training_test

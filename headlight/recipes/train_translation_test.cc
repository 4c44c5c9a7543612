// Tests training through the C++ API: options, presets, and calls of the observer.
#include "headlight/recipes/train_translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/base/test_support.h"
#include "headlight/pipelines/translator.h"
#include "headlight/recipes/train_text_encoder.h"

namespace headlight::train_translation_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class TrainTranslationTest : public testing::Test {
 protected:
  TrainTranslationTest() {
    std::string german, english;
    const std::vector<std::string> colors[] = {{"rote", "gelbe", "blaue"}, {"red", "yellow", "blue"}};
    const std::vector<std::string> things[] = {{"Rose", "Lampe", "Katze", "Tasse"}, {"rose", "lamp", "cat", "cup"}};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t t = 0; t < 4; ++t) {
        german += "die " + colors[0][c] + " " + things[0][t] + " steht da\n";
        english += "the " + colors[1][c] + " " + things[1][t] + " is there\n";
      }
    WriteFile(scratch_.File("de"), german);
    WriteFile(scratch_.File("en"), english);
    options_.train = options_.valid = {scratch_.File("de"), scratch_.File("en")};
    options_.out = scratch_.File("model");
    options_.layers = 1;
    options_.model_dim = 16;
    options_.heads = 2;
    options_.ffn_dim = 32;
    options_.vocabulary.size = 60;
    options_.steps = 4;
    options_.warmup = 2;
    options_.compute = ComputeChoice::float32;
  }

  TrainingResult Train() {
    return TrainTranslation(options_, {.prepared = [&](const std::string& labels) { labels_ = labels; },
                                       .progress = [&](const StepReport& report) { steps_.push_back(report.step); },
                                       .note = [&](const std::string& text) { notes_.push_back(text); }});
  }

  ScratchFolder scratch_;
  TranslationTraining options_;
  std::string labels_;
  std::vector<std::int64_t> steps_;
  std::vector<std::string> notes_;
};

TEST_F(TrainTranslationTest, TrainsAFolderThatTranslates) {
  const TrainingResult result = Train();
  EXPECT_EQ(result.end, TrainingEnd::limit);
  EXPECT_EQ(result.steps, 4);
  EXPECT_THAT(steps_, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(labels_, "target tokens");
  EXPECT_THAT(notes_, Contains(HasSubstr("12 pairs of 12")));
  Translator::Load(options_.out).Translate("die rote Rose steht da");
}

TEST_F(TrainTranslationTest, NamesAChangedOption) {
  Train();
  EXPECT_THAT(ErrorOf([&] { Train(); }), HasSubstr("`resume` resumes it"));
  options_.resume = true;
  options_.steps = 5;
  EXPECT_EQ(Train().steps, 5);
  options_.model_dim = 32;
  try {
    Train();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.option(), "model_dim");
    EXPECT_THAT(error.what(), HasSubstr("`model_dim` 16, and now"));
  }
}

TEST_F(TrainTranslationTest, NamesImpossibleSizes) {
  options_.heads = 0;
  EXPECT_THAT(ErrorOf([&] { Train(); }), HasSubstr("`heads` 0"));
  options_.heads = 3;
  EXPECT_THAT(ErrorOf([&] { Train(); }), HasSubstr("`heads` 3 does not divide"));
  options_.heads = 2;
  options_.batch = 0;
  EXPECT_THAT(ErrorOf([&] { Train(); }), HasSubstr("a batch of 0"));
}

TEST_F(TrainTranslationTest, NamesAnUnknownPreset) {
  options_.preset = "large";
  EXPECT_THAT(ErrorOf([&] { Train(); }), HasSubstr("not 'large'"));
}

// Checks that training stops at the observer's request, and that a resumed run continues from the same step.
TEST_F(TrainTranslationTest, StopsOnRequestAndResumes) {
  std::int64_t done = 0;
  const TrainingResult result = TrainTranslation(
      options_, {.progress = [&](const StepReport& report) { done = report.step; }, .stop = [&] { return done == 2; }});
  EXPECT_EQ(result.end, TrainingEnd::stopped);
  EXPECT_EQ(result.steps, 2);
  options_.resume = true;
  EXPECT_EQ(Train().steps, 4);
  EXPECT_THAT(steps_, testing::ElementsAre(3, 4));
}

TEST(Presets, SetOnlyOptionsWithoutAValue) {
  TranslationTraining options;
  options.layers = 5;
  options.epochs = 1;
  ApplyPreset(options, {{"--layers", "3"}, {"--heads", "2"}, {"--epochs", "24"}, {"--schedule", "cosine"}});
  EXPECT_EQ(options.layers, 5);
  EXPECT_EQ(options.heads, 2);
  EXPECT_EQ(options.epochs, 1);
  EXPECT_EQ(options.schedule, ScheduleKind::cosine);
  MaskedLanguageModelTraining tuning;
  tuning.from = "folder";
  ApplyPreset(tuning, {{"--layers", "3"}, {"--epochs", "24"}});
  EXPECT_EQ(tuning.layers, std::nullopt) << "of a model from scratch only";
  EXPECT_EQ(tuning.epochs, 24);
}

}  // namespace
}  // namespace headlight::train_translation_test

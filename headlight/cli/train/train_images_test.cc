#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/image/processor.h"
#include "headlight/models/family.h"
#include "headlight/models/resnet.h"
#include "headlight/models/vit.h"

namespace headlight::train_images_test {
namespace {

using testing::HasSubstr;

// IDX files of gray images of 8 x 8 pixels that are bright in the upper half (class 3) or in the lower half (class 7).
struct Setting {
  TemporaryFolder folder;
  std::string images = folder.File("train-images-idx3-ubyte"), labels = folder.File("train-labels-idx1-ubyte");

  Setting() {
    constexpr int count = 120;
    std::string pixels = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 8, 0, 0, 0, 8};
    std::string classes = {0, 0, 8, 1, 0, 0, 0, count};
    Random random(1);
    for (int i = 0; i < count; ++i) {
      classes += i % 2 == 0 ? '\3' : '\7';
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
          pixels += static_cast<char>(random.Below(120) + ((y < 4) == (i % 2 == 0) ? 100 : 0));
    }
    WriteFile(images, pixels);
    WriteFile(labels, classes);
  }

  Outcome Train(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"train", "image-classification", "--train", images, labels};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
  std::vector<std::string> Small(const std::string& out) const {
    return {"--validate-split", "0.3", "--out",        folder.File(out),
            "--image-size",     "8",   "--patch-size", "4",
            "--layers",         "1",   "--model-dim",  "16",
            "--heads",          "2",   "--batch-size", "32",
            "--log-every",      "2"};
  }
};

std::vector<std::string> With(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(TrainImages, AClassifierIsTrainedAndGoesOn) {
  const Setting setting;
  const Outcome trained = setting.Train(With(setting.Small("model"), {"--epochs", "12", "--learning-rate", "0.01",
                                                                      "--augment", "none", "--random-crop", "1"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("images to train on"));
  EXPECT_THAT(trained.err, HasSubstr(" images/s"));
  EXPECT_THAT(trained.err, HasSubstr("accuracy 100.00, macro_f1 100.00"));
  EXPECT_THAT(trained.err, HasSubstr("headlight classify"));
  const std::string model = setting.folder.File("model");
  EXPECT_EQ(LoadModel<ImageEncoder>(model)->labels(), (std::vector<std::string>{"3", "7"}));
  EXPECT_EQ(LoadImageProcessor(model).resize.size, (ImageSize{8, 8}));
  EXPECT_THAT(setting.Train(setting.Small("model")).err, HasSubstr("holds a training already"));

  // If the classes are equal, the head is kept. Otherwise, it is initialized.
  const auto further = [&](const std::string& out) {
    return setting.Train(
        {"--validate-split", "0.3", "--from", model, "--out", setting.folder.File(out), "--epochs", "1"});
  };
  const Outcome same = further("same");
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, testing::Not(HasSubstr("initialized")));
  std::string labels = ReadFile(setting.labels);
  for (std::size_t i = 8; i < labels.size(); i += 3) labels[i] = '\1';
  WriteFile(setting.labels, labels);
  const Outcome other = further("other");
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("it has 2 other classes"));
  EXPECT_EQ(LoadModel<ImageEncoder>(setting.folder.File("other"))->labels(), (std::vector<std::string>{"1", "3", "7"}));
  EXPECT_EQ(LoadImageProcessor(setting.folder.File("other")).resize.size, (ImageSize{8, 8}));
}

TEST(TrainImages, AResumedTrainingIsTheSame) {
  const Setting setting;
  const auto options = [&](const std::string& out, const std::string& epochs, const std::string& threads) {
    return With(setting.Small(out), {"--epochs", epochs, "--warmup", "4", "--schedule", "inverse-square-root",
                                     "--augment", "strong", "--resume", "--threads", threads});
  };
  ASSERT_EQ(setting.Train(options("whole", "4", "2")).exit_code, 0);
  ASSERT_EQ(setting.Train(options("parts", "2", "1")).exit_code, 0);
  const Outcome resumed = setting.Train(options("parts", "4", "3"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step"));
  EXPECT_EQ(ReadFile(setting.folder.File("whole/last/model.safetensors")),
            ReadFile(setting.folder.File("parts/last/model.safetensors")));
  // A training run cannot be resumed with a different augmentation.
  const Outcome refused = setting.Train(With(options("parts", "6", "1"), {"--mixup", "0"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--mixup 0.8, and now"));
}

// Checks ResNet. Batch norm uses the statistics of the whole batch, without micro-batches.
TEST(TrainImages, AResnetIsTrainedAndResumed) {
  const Setting setting;
  const auto train = [&](const std::string& out, const std::string& epochs, const std::string& threads) {
    return setting.Train({"--validate-split",
                          "0.3",
                          "--out",
                          setting.folder.File(out),
                          "--image-size",
                          "32",
                          "--channels",
                          "4",
                          "8",
                          "--depths",
                          "1,2",
                          "--batch-size",
                          "28",
                          "--learning-rate",
                          "0.01",
                          "--warmup",
                          "4",
                          "--schedule",
                          "inverse-square-root",
                          "--epochs",
                          epochs,
                          "--threads",
                          threads,
                          "--resume"});
  };
  const Outcome trained = train("whole", "6", "2");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("accuracy 100.00"));
  ASSERT_EQ(train("parts", "3", "1").exit_code, 0);
  ASSERT_EQ(train("parts", "6", "3").exit_code, 0);
  EXPECT_EQ(ReadFile(setting.folder.File("whole/last/model.safetensors")),
            ReadFile(setting.folder.File("parts/last/model.safetensors")));
  const auto model = LoadModel<Resnet>(setting.folder.File("whole"));
  EXPECT_EQ(model->config().hidden, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(model->config().depths, (std::vector<std::int64_t>{1, 2}));

  const std::vector<std::string> resnet = {"--validate-split", "0.3", "--out", setting.folder.File("model")};
  EXPECT_THAT(setting.Train(With(resnet, {"--channels", "4", "8", "--heads", "2"})).err,
              HasSubstr("--heads is for a ViT;"));
  EXPECT_THAT(setting.Train(With(resnet, {"--channels", "4", "8", "--depths", "2"})).err,
              HasSubstr("--depths has 1 stages, and"));
  EXPECT_THAT(setting.Train(With(resnet, {"--depths", "2"})).err, HasSubstr("--depths needs --channels"));
}

TEST(TrainImages, ALearningRateFallsWithTheMinutes) {
  const Setting setting;
  const Outcome trained = setting.Train(With(setting.Small("model"), {"--minutes", "0.02", "--warmup", "2"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::vector<std::string> lines = Lines(ReadFile(setting.folder.File("model/metrics.jsonl")));
  double last = 1;
  std::int64_t images = 0;
  for (const std::string& line : lines) {
    const JsonView step(ParseJson(line, "line"), "line");
    if (step.value().Find("learning_rate") == nullptr) continue;
    EXPECT_LT(step["learning_rate"].Number(), last);  // logged every two steps; the warm-up ends at step 2
    last = step["learning_rate"].Number();
    images = step["images"].Integer();
  }
  EXPECT_LT(last, 3e-4);
  EXPECT_GT(images, 100);
}

TEST(TrainImages, ShowsTheImagesOfTheTraining) {
  const Setting setting;
  const std::string page = setting.folder.File("page.html");
  const Outcome trained =
      setting.Train(With(setting.Small("model"), {"--steps", "1", "--augment", "strong", "--show-augmented", page}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string text = ReadFile(page);
  std::size_t images = 0;
  for (std::size_t at = 0; (at = text.find("<img src=\"data:image/png;base64,", at)) != std::string::npos; ++at)
    ++images;
  EXPECT_GE(images, 4U);  // images of the first batch, which may be the smallest
  EXPECT_THAT(text, testing::ContainsRegex("<figcaption>[37]( 0[.][0-9], [37] 0[.][0-9])?</figcaption>"));
  const Outcome refused =
      setting.Train(With(setting.Small("other"), {"--steps", "1", "--show-augmented", setting.images}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--show-augmented"));
  EXPECT_THAT(refused.err, HasSubstr("must end in .html"));
}

TEST(TrainImages, DoNotWriteAPageOverWhatIsRead) {
  const Setting setting;
  const std::string page = setting.folder.File("linked.html"), before = ReadFile(setting.labels);
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Outcome outcome = setting.Train(With(setting.Small("model"), With({"--show-augmented", page}, more)));
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  std::filesystem::create_symlink(setting.labels, page);
  EXPECT_THAT(refusal({}), HasSubstr("reads the same file"));
  EXPECT_EQ(ReadFile(setting.labels), before);
  std::filesystem::remove(page);
  WriteFile(page, "epochs = 1\n");
  EXPECT_THAT(refusal({"--config", page}), HasSubstr("reads the same file"));
  EXPECT_EQ(ReadFile(page), "epochs = 1\n");
  EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
}

TEST(TrainImages, PresetsLeaveWhatIsGiven) {
  const Setting setting;
  const Outcome trained = setting.Train({"--validate-split", "0.3", "--out", setting.folder.File("model"), "--preset",
                                         "small-images", "--channels", "8,16", "--depths", "1,1", "--steps", "2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(LoadModel<ImageEncoder>(setting.folder.File("model"))->limits().model, 16);
  EXPECT_EQ(LoadImageProcessor(setting.folder.File("model")).resize.size, (ImageSize{64, 64}));
  EXPECT_THAT(setting
                  .Train({"--validate-split", "0.3", "--out", setting.folder.File("other"), "--preset",
                          "small-gray-images", "--layers", "2"})
                  .err,
              HasSubstr("--layers is for a ViT;"));
}

TEST(TrainImages, LeaveOutDamagedImages) {
  const TemporaryFolder folder;
  Image image{.height = 8, .width = 8, .pixels = std::vector<std::uint8_t>(192)};
  for (const char* const name : {"a", "test"}) {
    std::filesystem::create_directories(folder.File("data/") + name);
    for (int i = 0; i < 3; ++i) {
      image.pixels.assign(192, static_cast<std::uint8_t>(50 * i + (name[0] == 'a' ? 0 : 9)));
      WritePng(fmt::format("{}/{}/{}.png", folder.File("data"), name, i), image);
    }
  }
  WriteFile(folder.File("data/a/zero.png"), "");
  WriteFile(folder.File("data/test/cut.png"), ReadFile(folder.File("data/test/0.png")).substr(0, 60));
  const auto train = [&](const std::string& kind, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train",        kind,
                                          "--train",      folder.File("data"),
                                          "--out",        folder.File(kind),
                                          "--image-size", "8",
                                          "--patch-size", "4",
                                          "--layers",     "1",
                                          "--heads",      "1",
                                          "--model-dim",  "8"};
    return RunProgram(With(With(std::move(arguments), more), {"--steps", "1"}));
  };
  const std::vector<std::string> valid = {"--valid", folder.File("data")};
  Outcome outcome = train("image-classification", valid);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("data/a/zero.png: "));
  EXPECT_THAT(outcome.err, HasSubstr("; " + folder.File("data/test/cut.png")));
  outcome = train("image-classification", With(valid, {"--skip-errors"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: \"test\" is a class"));
  EXPECT_THAT(outcome.err, HasSubstr("data (8 images): nothing found"));
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + folder.File("data/a/zero.png: ")));
  EXPECT_THAT(outcome.err, HasSubstr("data: 6 images to train on"));
  EXPECT_EQ(train("self-distillation", {}).exit_code, 2);
  outcome = train("self-distillation", {"--skip-errors"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("data: 6 images to train on"));
}

TEST(TrainImages, RefusesWhatCannotBe) {
  const Setting setting;
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Outcome outcome = setting.Train(With(setting.Small("model"), more));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--patch-size", "3"}), HasSubstr("--image-size 8: is not a"));
  EXPECT_THAT(refusal({"--heads", "3"}), HasSubstr("--heads 3 does not divide"));
  EXPECT_THAT(refusal({"--valid", setting.images, setting.labels}), HasSubstr("--validate-split"));
  EXPECT_THAT(refusal({"--from", "."}), HasSubstr("--from"));
  EXPECT_THAT(refusal({"--augment", "much"}), HasSubstr("--augment must be none, light,"));
  std::filesystem::create_directory(setting.folder.File("empty"));
  EXPECT_THAT(RefusalOf({"train", "image-classification", "--train", setting.folder.File("empty"), "--validate-split",
                         "0.1", "--out", setting.folder.File("model")}),
              HasSubstr("folder of a class"));
  EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
}

}  // namespace
}  // namespace headlight::train_images_test

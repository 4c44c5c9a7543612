#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/image/processor.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/models/family.h"

namespace headlight::train_self_distillation_test {
namespace {

using testing::HasSubstr;

// IDX files of gray images of 8 x 8 pixels that are bright in the upper half (class 0) or in the lower half (class 1).
struct Setting {
  TemporaryFolder folder;
  std::string images = folder.File("images-idx3-ubyte"), classes = folder.File("labels-idx1-ubyte");

  Setting() {
    constexpr int count = 24;
    std::string pixels = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 8, 0, 0, 0, 8};
    std::string labels = {0, 0, 8, 1, 0, 0, 0, count};
    Random random(1);
    for (int i = 0; i < count; ++i) {
      labels += static_cast<char>(i % 2);
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
          pixels += static_cast<char>(random.Below(100) + ((y < 4) == (i % 2 == 0) ? 100 : 0));
    }
    WriteFile(images, pixels);
    WriteFile(classes, labels);
  }

  std::vector<std::string> Arguments(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",
                                          "self-distillation",
                                          "--train",
                                          images,
                                          "--out",
                                          folder.File(out),
                                          "--batch-size",
                                          "8",
                                          "--prototypes",
                                          "32",
                                          "--head-hidden-dim",
                                          "16",
                                          "--local-crops",
                                          "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::string> FromScratch(const std::string& out, std::vector<std::string> more) const {
    more.insert(more.end(),
                {"--image-size", "8", "--patch-size", "4", "--layers", "2", "--model-dim", "16", "--heads", "2"});
    return Arguments(out, more);
  }
  std::string Weights(const std::string& out) const { return ReadFile(folder.File(out) + "/model.safetensors"); }
};

TEST(TrainSelfDistillation, GivesAFolderOfAnEncoderAndGoesOnFromIt) {
  const Setting setting;
  const Outcome trained =
      RunProgram(setting.FromScratch("vit", {"--epochs", "2", "--labeled", setting.images, setting.classes}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("24 images of 2 classes to validate on"));
  EXPECT_THAT(trained.err, HasSubstr("knn_accuracy"));
  const auto model = LoadModel<ImageEncoder>(setting.folder.File("vit"));
  EXPECT_EQ(model->limits().image, (Grid{8, 8}));
  EXPECT_FALSE(model->heads().classes);
  EXPECT_EQ(LoadImageProcessor(setting.folder.File("vit")).resize.size, (ImageSize{8, 8}));

  // Training can also start from other image encoders, such as DINOv2.
  for (const std::string& from :
       {setting.folder.File("vit"), std::string(HEADLIGHT_SOURCE_DIR "/tests/testdata/images/dinov2_classes")}) {
    const TemporaryFolder copy;
    std::filesystem::copy(from, copy.path(), std::filesystem::copy_options::recursive);
    std::filesystem::copy_file(setting.folder.File("vit") + "/preprocessor_config.json",
                               copy.File("preprocessor_config.json"),
                               std::filesystem::copy_options::overwrite_existing);
    WriteFile(copy.File("tokenizer_config.json"), "{}");
    WriteFile(copy.File("generation_config.json"), "{}");
    const std::string out = fmt::format("from_{}", std::filesystem::path(from).filename().string());
    const Outcome further = RunProgram(setting.Arguments(out, {"--from", copy.path(), "--steps", "2"}));
    ASSERT_EQ(further.exit_code, 0) << further.err;
    const auto encoder = LoadModel<ImageEncoder>(setting.folder.File(out));
    EXPECT_EQ(encoder->limits().model, from.ends_with("vit") ? 16 : 12);
    EXPECT_EQ(LoadImageProcessor(setting.folder.File(out)).resize.size, (ImageSize{8, 8}));
    for (const char* other : {"tokenizer_config.json", "generation_config.json"})
      EXPECT_FALSE(std::filesystem::exists(setting.folder.File(out) + "/" + other));
    EXPECT_EQ(ReadJson(setting.folder.File(out) + "/config.json").value().Find("id2label"), nullptr);
  }
}

TEST(TrainSelfDistillation, AResnetIsTrainedAndResumedWithTheSameBits) {
  const Setting setting;
  const auto run = [&](const std::string& out, const char* steps, const char* threads) {
    const Outcome outcome = RunProgram(setting.Arguments(
        out, {"--image-size", "16", "--channels", "4,8", "--depths", "1,1", "--schedule", "inverse-square-root",
              "--warmup", "2", "--resume", "--steps", steps, "--threads", threads}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  run("whole", "5", "2");
  run("parts", "2", "1");
  run("parts", "5", "3");
  EXPECT_EQ(setting.Weights("whole"), setting.Weights("parts"));
  const auto model = LoadModel<ImageEncoder>(setting.folder.File("whole"));
  EXPECT_EQ(model->limits().model, 8);
  EXPECT_EQ(model->limits().special, 0);
  const Safetensors weights(setting.folder.File("whole") + "/model.safetensors");
  const Tensor statistics = weights.Read("resnet.embedder.embedder.normalization.running_var");
  EXPECT_NE(statistics.data<float>()[0], 1) << "the teacher, which is saved, keeps averages of what it has seen";
}

TEST(TrainSelfDistillation, ReadsTables) {
  const Setting setting;
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png", setting.folder.File("a.png"));
  WriteFile(setting.folder.File("images.csv"), "path,title\na.png,first\na.png,second\n");
  std::vector<std::string> arguments = setting.FromScratch("out", {"--steps", "1"});
  arguments.insert(std::ranges::find(arguments, setting.images), setting.folder.File("images.csv"));
  const Outcome trained = RunProgram(arguments);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("26 images to train on"));
}

TEST(TrainSelfDistillation, AResumedTrainingIsTheSame) {
  const Setting setting;
  const auto run = [&](const std::string& out, const char* steps, const char* threads) {
    const Outcome outcome =
        RunProgram(setting.FromScratch(out, {"--steps", steps, "--schedule", "inverse-square-root", "--warmup", "2",
                                             "--resume", "--threads", threads, "--validate-every", "2"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  run("whole", "7", "2");
  run("parts", "3", "1");
  run("parts", "7", "3");
  EXPECT_EQ(setting.Weights("whole/last"), setting.Weights("parts/last"));
  EXPECT_EQ(setting.Weights("whole"), setting.Weights("whole/last"));  // the last model is the best
  const std::string refused =
      RunProgram(setting.FromScratch("parts", {"--resume", "--steps", "9", "--teacher-momentum", "0.9"})).err;
  EXPECT_THAT(refused, HasSubstr("--teacher-momentum"));
  EXPECT_THAT(RunProgram(setting.FromScratch("parts", {"--resume", "--steps", "9", "--global-share", "0.5"})).err,
              HasSubstr("--global-share"));
}

TEST(TrainSelfDistillation, ShowsTheCropsOfTheTraining) {
  const Setting setting;
  const std::string page = setting.folder.File("page.html");
  const Outcome trained = RunProgram(setting.FromScratch("out", {"--steps", "1", "--show-augmented", page}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string text = ReadFile(page);
  std::size_t crops = 0;
  for (std::size_t at = 0; (at = text.find("<img src=\"data:image/png;base64,", at)) != std::string::npos; ++at)
    ++crops;
  EXPECT_EQ(crops, 24U * 4U);  // two global and two local crops of each image
  EXPECT_THAT(text, HasSubstr("images-idx3-ubyte#24"));
}

TEST(TrainSelfDistillation, RefusesWhatHasNoEffectOrNoPlace) {
  const Setting setting;
  const auto refusal = [&](const std::vector<std::string>& more) {
    const std::string refused = RefusalOf(setting.FromScratch("out", more));
    EXPECT_FALSE(std::filesystem::exists(setting.folder.File("out")));
    return refused;
  };
  EXPECT_THAT(refusal({"--local-crops", "0", "--local-size", "8"}), HasSubstr("--local-crops 0 makes none"));
  EXPECT_THAT(refusal({"--average-decay", "0.9"}), HasSubstr("already a moving average"));
  EXPECT_THAT(refusal({"--patience", "3"}), HasSubstr("--labeled"));
  EXPECT_THAT(refusal({"--local-size", "3"}), HasSubstr("a patch of 4"));
  EXPECT_THAT(refusal({"--channels", "4,8"}), HasSubstr("is for a ViT; --channels"));
  EXPECT_THAT(refusal({"--depths", "1,1"}), HasSubstr("--depths needs --channels"));
  EXPECT_THAT(refusal({"--final-weight-decay", "1", "--schedule", "paper"}),
              HasSubstr("needs --schedule cosine or linear"));
  EXPECT_THAT(refusal({"--prototypes", "1"}), HasSubstr("--prototypes"));
  EXPECT_THAT(refusal({"--local-share", "0.5"}), HasSubstr("than a global one"));
  EXPECT_THAT(refusal({"--show-augmented", setting.images}), HasSubstr("must end in .html"));
  // An image that a table lists must not be overwritten, even if its name ends in .html.
  const std::string image = setting.folder.File("p.html"), table = setting.folder.File("table.csv");
  WriteFile(image, EncodePng({.height = 1, .width = 1, .pixels = {1, 2, 3}}));
  WriteFile(table, "path\np.html\n");
  EXPECT_THAT(refusal({"--train", table, "--show-augmented", image}), HasSubstr("reads the same file"));
}

}  // namespace
}  // namespace headlight::train_self_distillation_test

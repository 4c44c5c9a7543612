#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/colors.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"

namespace headlight::train_image_generation_test {
namespace {

using testing::HasSubstr;

// Twelve images of 8 x 8 pixels with a gray square of one of three shades at a random position on black.
struct TrainImageGeneration : testing::Test {
  TrainImageGeneration() {
    std::filesystem::create_directory(images);
    Random random(1);
    for (int i = 0; i < 12; ++i) {
      Image image{.height = 8, .width = 8, .pixels = std::vector<std::uint8_t>(8 * 8 * 3)};
      const std::uint64_t top = random.Below(5), left = random.Below(5), gray = 80 * (1 + random.Below(3));
      for (std::uint64_t y = top; y < top + 4; ++y)
        std::fill_n(image.row(static_cast<std::int64_t>(y)) + 3 * left, 12, static_cast<std::uint8_t>(gray));
      WritePng(fmt::format("{}/{}.png", images, i), image);
    }
  }

  std::vector<std::string> Command(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> command = {
        "train", "image-generation", "--train",      images, "--valid",    images,
        "--out", folder.File(name),  "--batch-size", "5",    "--schedule", "inverse-square-root"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  std::vector<std::string> FromScratch(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> command =
        Command(name, {"--image-size", "8", "--clusters", "4", "--layers", "1", "--model-dim", "16", "--heads", "2",
                       "--warmup", "3", "--flip", "--validate-every", "3"});
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  std::vector<float> Values(const std::string& name) const {
    return LoadModel<ImageGpt>(folder.File(name) + "/last")->parameters().values().ToVector<float>();
  }

  const TemporaryFolder folder;
  const std::string images = folder.File("images");
};

TEST_F(TrainImageGeneration, MakesAFolderThatIsUsedLikeAnyOther) {
  const Outcome outcome = RunProgram(FromScratch("model", {"--steps", "6"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("12 images to train on, 8 x 8 pixels in 4 colors"));
  EXPECT_THAT(outcome.err, HasSubstr("bits per pixel"));
  const std::string model = folder.File("model"), png = folder.File("new.png");
  const ImageProcessor processor = LoadImageProcessor(model);
  ASSERT_EQ(processor.clusters.size(), 4U);
  EXPECT_EQ(BytesOf(processor.clusters[1]), (std::array<std::uint8_t, 3>{80, 80, 80}));
  MustRun({"generate", model, "--n-best", "4", "--out", png});
  EXPECT_EQ(ReadImage(png).width, 2 + 2 * 10);

  // The training must report the same scores as `evaluate` on the same images.
  const Outcome evaluated = RunProgram({"evaluate", model, images, "--json", "--compute", "float32"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const JsonView json(ParseJson(evaluated.out, "out"), "out");
  EXPECT_EQ(json["task"].String(), "image-generation");
  EXPECT_EQ(json["pixels"].Integer(), 12 * 64);
  EXPECT_EQ(json["images"].Integer(), 12);
  EXPECT_NEAR(json["bits_per_pixel"].Number(), json["loss"].Number() / std::log(2), 1e-9);
  EXPECT_THAT(RunProgram({"evaluate", model, images}).out, HasSubstr("as the model reads them:"));
  EXPECT_THAT(RefusalOf({"evaluate", model}), HasSubstr("the images to evaluate on"));
  EXPECT_THAT(RefusalOf({"evaluate", model, images, "--end"}), HasSubstr("--end is not for this"));

  // A training run that starts from this model keeps the model's colors.
  MustRun(Command("further", {"--from", model, "--steps", "2"}));
  EXPECT_EQ(LoadImageProcessor(folder.File("further")).clusters, processor.clusters);
}

TEST_F(TrainImageGeneration, AResumedTrainingEndsWithTheSameBitsOnAnyNumberOfThreads) {
  MustRun(FromScratch("whole", {"--steps", "7", "--threads", "2"}));
  MustRun(FromScratch("parts", {"--steps", "4", "--threads", "1"}));
  const Outcome resumed = RunProgram(FromScratch("parts", {"--steps", "7", "--threads", "1", "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step 4"));
  EXPECT_EQ(Values("parts"), Values("whole"));
  EXPECT_THAT(RefusalOf(FromScratch("parts", {"--steps", "9", "--resume", "--quiet", "--dropout", "0.2"})),
              HasSubstr("dropout"));
}

TEST_F(TrainImageGeneration, RefusesInvalidData) {
  EXPECT_THAT(RefusalOf(FromScratch("a", {"--steps", "1", "--clusters", "9"})), HasSubstr("--clusters is 9"));
  EXPECT_THAT(RefusalOf({"train", "image-generation", "--train", folder.File("none"), "--validate-split", "0.5",
                         "--out", folder.File("a")}),
              HasSubstr("none"));
  WriteFile(images + "/bad.png", "no image");
  EXPECT_THAT(RefusalOf(FromScratch("a", {"--steps", "1"})), HasSubstr("bad.png: not an image"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("a")));
  WriteFile(images + "/worse.png", "");
  EXPECT_THAT(RefusalOf(FromScratch("a", {"--steps", "1"})), testing::ContainsRegex("bad.png: .*; .*worse.png: "));
  const Outcome outcome = RunProgram(FromScratch("a", {"--steps", "1", "--skip-errors"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + images + "/worse.png: "));
  EXPECT_THAT(outcome.err, HasSubstr("12 images to train on"));
}

}  // namespace
}  // namespace headlight::train_image_generation_test

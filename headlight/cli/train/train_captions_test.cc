#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/models/family.h"
#include "headlight/models/vision_encoder_decoder.h"

namespace headlight::train_captions_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Images of 8 x 8 pixels with one color above another color, captions that name the colors, and a tokenizer.
struct Setting {
  TemporaryFolder folder;
  std::string pairs = folder.File("pairs.tsv"), tokens = folder.File("tokens");

  Setting() {
    std::filesystem::create_directory(tokens);
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json",
                          tokens + "/tokenizer.json");
    static constexpr std::array kNames = {"red", "green", "blue", "white"};
    static constexpr std::uint8_t kColors[][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};
    std::string lines;
    for (std::size_t above = 0; above < 4; ++above)
      for (std::size_t below = 0; below < 4; ++below) {
        Image image{8, 8, {}};
        for (int y = 0; y < 8; ++y)
          for (int x = 0; x < 8; ++x) {
            const auto& color = kColors[y < 4 ? above : below];
            image.pixels.insert(image.pixels.end(), color, color + 3);
          }
        const std::string name = fmt::format("{}_{}.png", kNames[above], kNames[below]);
        WritePng(folder.File(name), image);
        lines += fmt::format("{}\t{} over {}\n", name, kNames[above], kNames[below]);
      }
    WriteFile(pairs, lines);
  }

  Outcome Train(std::vector<std::string> more) const {
    more.insert(more.begin(), {"train", "captions", "--train", pairs, "--valid", pairs});
    return RunProgram(more);
  }
  std::vector<std::string> Small(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> options = {"--tokenizer",  tokens, "--out",        folder.File(out),
                                        "--image-size", "8",    "--patch-size", "4",
                                        "--layers",     "1",    "--model-dim",  "32",
                                        "--heads",      "2",    "--batch-size", "8"};
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
};

TEST(TrainCaptions, AModelIsTrainedToDescribeImages) {
  const Setting setting;
  const Outcome trained = setting.Train(setting.Small("model", {"--epochs", "60", "--learning-rate", "0.01"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("16 images with 16 captions to train on"));
  EXPECT_THAT(trained.err, HasSubstr("exact 100.00"));
  EXPECT_THAT(trained.err, HasSubstr("headlight caption"));
  const std::string model = setting.folder.File("model");
  EXPECT_EQ(LoadModel<VisionEncoderDecoder>(model)->config().decoder.positions, 64);
  EXPECT_EQ(RunProgram({"caption", model, setting.folder.File("green_white.png")}).out,
            setting.folder.File("green_white.png") + "\tgreen over white\n");
  EXPECT_THAT(setting.Train(setting.Small("model", {})).err, HasSubstr("holds a training already"));

  // Continues the training from the model's folder, with its settings.
  const Outcome further = setting.Train({"--from", model, "--out", setting.folder.File("further"), "--epochs", "1"});
  ASSERT_EQ(further.exit_code, 0) << further.err;
  EXPECT_THAT(further.err, HasSubstr("exact 100.00"));
  for (const char* file : {"tokenizer.json", "preprocessor_config.json", "generation_config.json"})
    EXPECT_EQ(ReadFile(setting.folder.File("further/" + std::string(file))), ReadFile(model + "/" + file)) << file;
}

TEST(TrainCaptions, NamesAllDamagedImagesOrLeavesThemOut) {
  const Setting setting;
  WriteFile(setting.folder.File("zero.png"), "");
  WriteFile(setting.folder.File("cut.png"), ReadFile(setting.folder.File("red_red.png")).substr(0, 60));
  WriteFile(setting.pairs, ReadFile(setting.pairs) + "zero.png\tnothing\ncut.png\tred\ncut.png\tred again\n");
  Outcome outcome = setting.Train(setting.Small("model", {"--steps", "1"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("zero.png: "), HasSubstr("; " + setting.folder.File("cut.png: "))));
  outcome = setting.Train(setting.Small("model", {"--steps", "1", "--skip-errors"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + setting.folder.File("zero.png: ")));
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + setting.folder.File("cut.png: ")));
  EXPECT_THAT(outcome.err, HasSubstr("16 images with 16 captions to train on"));
  // All images are damaged.
  WriteFile(setting.pairs, "zero.png\tnothing\n");
  outcome = setting.Train(setting.Small("none", {"--steps", "1", "--skip-errors"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no images in it"));
}

TEST(TrainCaptions, AResumedTrainingIsTheSame) {
  const Setting setting;
  const auto options = [&](const std::string& out, const std::string& epochs, const std::string& threads) {
    return setting.Small(out,
                         {"--epochs", epochs, "--warmup", "4", "--schedule", "inverse-square-root", "--dropout", "0.1",
                          "--drop-path", "0.1", "--label-smoothing", "0.1", "--resume", "--threads", threads});
  };
  ASSERT_EQ(setting.Train(options("whole", "4", "2")).exit_code, 0);
  ASSERT_EQ(setting.Train(options("parts", "2", "1")).exit_code, 0);
  const Outcome resumed = setting.Train(options("parts", "4", "3"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(ReadFile(setting.folder.File("parts/last/model.safetensors")),
            ReadFile(setting.folder.File("whole/last/model.safetensors")));
}

// Checks that fine-tuning a BLIP model reduces the loss, and that the bias of the output layer is also trained.
TEST(TrainCaptions, OfABlipGoOn) {
  const Setting setting;
  const std::string blip = HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/blip_text";
  WriteFile(setting.pairs, "red_red.png\ttwo men\nwhite_green.png\ta small dog runs\n");
  const auto loss_after = [&](const std::string& epochs, const std::string& smoothing) {
    const Outcome trained = setting.Train({"--from", blip, "--out", setting.folder.File(epochs + smoothing), "--epochs",
                                           epochs, "--learning-rate", "0.01", "--label-smoothing", smoothing});
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    const std::string before = "validation: loss ";
    const std::size_t at = trained.err.rfind(before);
    return at == std::string::npos ? 1e9 : std::stod(trained.err.substr(at + before.size()));
  };
  for (const char* smoothing : {"0", "0.1"}) EXPECT_LT(loss_after("60", smoothing), 0.5 * loss_after("1", smoothing));
}

TEST(TrainCaptions, RefusesWhatCannotBe) {
  const Setting setting;
  const std::string out = setting.folder.File("out"), captions = HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/";
  const auto refusal = [&](const std::vector<std::string>& more) { return setting.Train(more).err; };
  EXPECT_THAT(refusal({"--out", out}), HasSubstr("either --from DIR"));
  EXPECT_THAT(refusal({"--out", out, "--from", captions + "blip_answers_text"}), HasSubstr("writes captions"));
  EXPECT_THAT(refusal({"--out", out, "--from", HEADLIGHT_SOURCE_DIR "/tests/testdata/images/vit"}),
              HasSubstr("vision-encoder-decoder"));
  EXPECT_THAT(refusal(setting.Small("out", {"--positions", "4"})),
              AllOf(HasSubstr("red_red.png: a caption has"), HasSubstr("from 1 to 3")));
  EXPECT_THAT(refusal(setting.Small("out", {"--label-smoothing", "1"})), HasSubstr("--label-smoothing"));
  EXPECT_THAT(refusal(setting.Small("out", {"--image-size", "10"})), HasSubstr("--patch-size"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace headlight::train_captions_test

// Tests train image-codes and train text-to-image.
#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/models/dalle.h"
#include "headlight/models/discrete_vae.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/text_to_image.h"

namespace headlight::train_drawing_test {
namespace {

using testing::HasSubstr;

// Twelve images of 8 x 8 pixels with two texts each. Each image is a gray square of one of three shades at a random
// position on black.
struct TrainDrawing : testing::Test {
  TrainDrawing() {
    std::filesystem::create_directory(images);
    Random random(1);
    std::string table;
    for (int i = 0; i < 12; ++i) {
      Image image{.height = 8, .width = 8, .pixels = std::vector<std::uint8_t>(8 * 8 * 3)};
      const std::uint64_t top = random.Below(5), left = random.Below(5), gray = random.Below(3);
      for (std::uint64_t y = top; y < top + 4; ++y)
        std::fill_n(image.row(static_cast<std::int64_t>(y)) + 3 * left, 12, static_cast<std::uint8_t>(80 * (gray + 1)));
      WritePng(fmt::format("{}/{}.png", images, i), image);
      for (const char* word : {"gray", "square"}) table += fmt::format("{}.png\t{} {}\n", i, word, gray);
    }
    WriteFile(pairs, table);
    std::filesystem::create_directory(words);
    std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json",
                               words + "/tokenizer.json");
  }

  static std::vector<std::string> With(std::vector<std::string> command, const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  std::vector<std::string> Codes(const std::string& name, const std::vector<std::string>& more) const {
    return With({"train",
                 "image-codes",
                 "--train",
                 images,
                 "--valid",
                 images,
                 "--out",
                 folder.File(name),
                 "--batch-size",
                 "5",
                 "--schedule",
                 "inverse-square-root",
                 "--warmup",
                 "3",
                 "--validate-every",
                 "3",
                 "--flip",
                 "--kl-weight",
                 "0.1",
                 "--kl-batches",
                 "4",
                 "--temperature-batches",
                 "5"},
                more);
  }
  std::vector<std::string> NewCodes(const std::string& name, const std::vector<std::string>& more) const {
    return With(Codes(name, {"--image-size", "8", "--codes", "7", "--code-dim", "4", "--layers", "1", "--model-dim",
                             "8", "--blocks", "1"}),
                more);
  }
  std::vector<std::string> Draws(const std::string& name, const std::vector<std::string>& more) const {
    return With({"train", "text-to-image", "--train", pairs, "--valid", pairs, "--out", folder.File(name),
                 "--batch-size", "5", "--schedule", "inverse-square-root", "--warmup", "3", "--validate-every", "3"},
                more);
  }
  std::vector<std::string> NewDraws(const std::string& name, const std::vector<std::string>& more) const {
    return With(Draws(name, {"--vae", folder.File("vae"), "--tokenizer", words, "--text-positions", "8", "--layers",
                             "3", "--model-dim", "16", "--heads", "2"}),
                more);
  }
  template <typename M>
  std::vector<float> Values(const std::string& name) const {
    return LoadModel<M>(folder.File(name) + "/last")->parameters().values().template ToVector<float>();
  }

  const TemporaryFolder folder;
  const std::string images = folder.File("images"), pairs = images + "/pairs.tsv", words = folder.File("words");
};

TEST_F(TrainDrawing, NamesAllDamagedImagesOrLeavesThemOut) {
  WriteFile(images + "/zero.png", "");
  WriteFile(images + "/cut.png", ReadFile(images + "/0.png").substr(0, 60));
  WriteFile(pairs, ReadFile(pairs) + "zero.png\tnothing\ncut.png\tgray 1\n");
  const auto expect = [&](const std::vector<std::string>& command, const char* kept) {
    Outcome outcome = RunProgram(With(command, {"--steps", "1"}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(images + "/zero.png: "));
    EXPECT_THAT(outcome.err, HasSubstr(images + "/cut.png: "));
    outcome = RunProgram(With(command, {"--steps", "1", "--skip-errors"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + images + "/zero.png: "));
    EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + images + "/cut.png: "));
    EXPECT_THAT(outcome.err, HasSubstr(kept));
  };
  expect(NewCodes("vae", {}), "12 images to train on");
  expect(NewDraws("model", {}), "12 images with 24 texts to train on");
}

TEST_F(TrainDrawing, NeedsNoHeadsForCodes) {
  const std::vector<std::string> odd = {"--image-size", "8", "--codes",     "7", "--code-dim", "4",
                                        "--layers",     "1", "--model-dim", "5", "--steps",    "3"};
  MustRun(Codes("odd", odd));
  EXPECT_EQ(LoadModel<DiscreteVae>(folder.File("odd"))->config().hidden, 5);
}

TEST_F(TrainDrawing, MakesFoldersThatGenerateImages) {
  const Outcome coded = RunProgram(NewCodes("vae", {"--steps", "6"}));
  ASSERT_EQ(coded.exit_code, 0) << coded.err;
  EXPECT_THAT(coded.err, HasSubstr("12 images to train on, 8 x 8 pixels in 4 x 4 of 7 codes"));
  for (const char* score : {"psnr", "codes_used", "code_perplexity"}) EXPECT_THAT(coded.err, HasSubstr(score));

  const Outcome learned = RunProgram(NewDraws("model", {"--steps", "6"}));
  ASSERT_EQ(learned.exit_code, 0) << learned.err;
  EXPECT_THAT(learned.err, HasSubstr("12 images with 24 texts to train on"));
  for (const char* score : {"text_loss", "image_loss"}) EXPECT_THAT(learned.err, HasSubstr(score));
  const auto model = LoadModel<Dalle>(folder.File("model"));
  EXPECT_EQ(model->config().kinds,
            (std::vector{GridAttentionKind::row, GridAttentionKind::column, GridAttentionKind::convolution}));
  const std::string png = folder.File("new.png");
  MustRun({"draw", folder.File("model"), "gray 2", "--n-best", "4", "--out", png});
  EXPECT_EQ(ReadImage(png).width, 2 + 2 * 10);

  // The new runs start from the saved folders and keep their other files.
  MustRun(Codes("vae2", {"--from", folder.File("vae"), "--steps", "2"}));
  MustRun(Draws("further", {"--from", folder.File("model"), "--steps", "2"}));
  MustRun({"draw", folder.File("further"), "gray 2", "--out", png});
  EXPECT_EQ(ReadImage(png).width, 8);
  EXPECT_EQ(Values<ImageCoder>("vae").size(), Values<ImageCoder>("vae2").size());
}

TEST_F(TrainDrawing, DropsTextsWithTheGivenProbability) {
  MustRun(NewCodes("vae", {"--steps", "2"}));
  MustRun(NewDraws("begun", {"--steps", "1"}));
  // The embeddings of all tokens, followed by the embeddings of padding at eight positions.
  const auto embeddings = [&](const std::string& name) {
    const auto loaded = LoadModel<Dalle>(folder.File(name) + "/last");
    const Parameter& first = loaded->parameters().all().front();
    EXPECT_EQ(first.names.front(), "text_embedding.weight");
    return first.value.ToVector<float>();
  };
  const auto further = [&](const std::string& name, const std::string& share, const std::string& steps) {
    return Draws(name, {"--from", folder.File("begun"), "--weight-decay", "0", "--learning-rate", "0.01", "--drop-text",
                        share, "--steps", steps});
  };
  for (const char* share : {"0", "0.5", "1"}) MustRun(further(std::string("dropped") + share, share, "5"));
  const std::vector<float> begun = embeddings("begun"), all = embeddings("dropped1"), none = embeddings("dropped0");
  const auto padding = static_cast<std::ptrdiff_t>(begun.size() - 16 * 8);
  // Id 0 is skipped, because it is also the start token.
  EXPECT_TRUE(std::equal(begun.begin() + 16, begun.begin() + padding, all.begin() + 16));
  EXPECT_FALSE(std::equal(begun.begin() + padding, begun.end(), all.begin() + padding));
  EXPECT_FALSE(std::equal(begun.begin() + 16, begun.begin() + padding, none.begin() + 16));
  EXPECT_NE(embeddings("dropped0.5"), none);

  MustRun(further("parts", "0.5", "3"));
  MustRun(With(further("parts", "0.5", "5"), {"--resume"}));
  EXPECT_EQ(embeddings("parts"), embeddings("dropped0.5"));
  EXPECT_THAT(RefusalOf(With(further("parts", "0.6", "6"), {"--resume", "--quiet"})), HasSubstr("--drop-text"));
  EXPECT_THAT(RefusalOf(further("parts", "1.1", "6")), HasSubstr("--drop-text"));
}

// Checks the weight of the divergence in the first batch. It is at its maximum for squared errors, and 0 for the
// logit-Laplace loss.
TEST_F(TrainDrawing, TheWeightOfTheDivergenceFallsOrRises) {
  for (const std::string loss : {"logit-laplace", "l2"}) {
    MustRun(NewCodes(loss, {"--loss", loss, "--steps", "1"}));
    MustRun(NewCodes(loss + "0", {"--loss", loss, "--steps", "1", "--first-kl-weight", "0"}));
    EXPECT_EQ(Values<ImageCoder>(loss) == Values<ImageCoder>(loss + "0"), loss == "logit-laplace") << loss;
  }
}

TEST_F(TrainDrawing, AResumedTrainingEndsWithTheSameBitsOnAnyNumberOfThreads) {
  for (const char* loss : {"logit-laplace", "l2"}) {
    const auto codes = [&](const std::string& name, const std::vector<std::string>& more) {
      return With(NewCodes(std::string(loss) + name, {"--loss", loss}), more);
    };
    MustRun(codes("whole", {"--steps", "7", "--threads", "2"}));
    MustRun(codes("parts", {"--steps", "4", "--threads", "1"}));
    const Outcome resumed = RunProgram(codes("parts", {"--steps", "7", "--threads", "1", "--resume"}));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("resumed after step 4"));
    EXPECT_EQ(Values<ImageCoder>(std::string(loss) + "parts"), Values<ImageCoder>(std::string(loss) + "whole"));
  }
  EXPECT_THAT(RefusalOf(NewCodes("l2parts", {"--steps", "9", "--resume", "--quiet", "--kl-weight", "3"})),
              HasSubstr("--kl-weight"));
  MustRun(NewCodes("vae", {"--steps", "2"}));
  MustRun(NewDraws("whole", {"--steps", "7", "--threads", "2", "--dropout", "0.1"}));
  MustRun(NewDraws("parts", {"--steps", "4", "--threads", "1", "--dropout", "0.1"}));
  MustRun(NewDraws("parts", {"--steps", "7", "--threads", "1", "--dropout", "0.1", "--resume"}));
  EXPECT_EQ(Values<TextToImageModel>("parts"), Values<TextToImageModel>("whole"));
  // A VAE that encodes the same images differently produces a different corpus.
  std::filesystem::remove_all(folder.File("vae"));
  MustRun(NewCodes("vae", {"--steps", "2", "--seed", "2"}));
  EXPECT_THAT(RefusalOf(NewDraws("parts", {"--steps", "9", "--dropout", "0.1", "--resume", "--quiet"})),
              HasSubstr("another --train"));
}

TEST_F(TrainDrawing, RefusesInvalidData) {
  EXPECT_THAT(RefusalOf(NewCodes("a", {"--steps", "1", "--image-size", "9"})), HasSubstr("the size of images, 9,"));
  EXPECT_THAT(RefusalOf(With(NewCodes("a", {}), {"--loss", "l1"})), HasSubstr("--loss"));
  EXPECT_THAT(RefusalOf(NewCodes("a", {"--heads", "2"})), HasSubstr("--heads"));
  EXPECT_THAT(RefusalOf(Draws("a", {"--steps", "1"})), HasSubstr("--vae DIR and --tokenizer DIR"));
  MustRun(NewCodes("vae", {"--steps", "1"}));
  EXPECT_THAT(RefusalOf(NewDraws("a", {"--steps", "1", "--attention-types", "row", "diagonal"})),
              HasSubstr("--attention-types"));
  EXPECT_THAT(RefusalOf(NewDraws("a", {"--steps", "1", "--quiet", "--text-positions", "1"})),
              HasSubstr("reads at most 1"));
  EXPECT_THAT(RefusalOf(NewDraws("a", {"--steps", "1", "--model-dim", "15"})), HasSubstr("--heads 2 does not divide"));
  EXPECT_THAT(RefusalOf(Draws("a", {"--from", folder.File("vae"), "--steps", "1"})),
              HasSubstr("a text-to-image model is needed"));
  WriteFile(pairs, "0.png\n");
  EXPECT_THAT(RefusalOf(NewDraws("a", {"--steps", "1"})), HasSubstr("pairs.tsv"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("a")));
}

}  // namespace
}  // namespace headlight::train_drawing_test

#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/pipelines/dual_testing.h"

namespace headlight::train_contrastive_test {
namespace {

using testing::HasSubstr;

struct TrainContrastive : testing::Test {
  TrainContrastive() {
    std::string lines, captions;
    for (int i = 0; i < 24; ++i) {
      Image image{.height = 8, .width = 8};
      for (int pixel = 0; pixel < 64; ++pixel)
        for (const int byte : {i * 10, 255 - i * 10, pixel * 3})
          image.pixels.push_back(static_cast<std::uint8_t>(byte));
      WritePng(folder.File(fmt::format("{}.png", i)), image);
      lines += fmt::format("{}.png\tA image of {} dogs and {} cats\n", i, i % 5, i / 5);
      captions += fmt::format("An image of {} dogs and {} cats.\n", i % 5, i / 5);
    }
    WriteFile(pairs, lines);
    WriteFile(folder.File("captions.txt"), captions);
    MustRun({"train", "tokenizer", "--subword-type", "wordpiece", "--vocabulary-size", "80", "--out", tokens,
             folder.File("captions.txt")});
  }
  std::vector<std::string> Command(const std::vector<std::string>& more) const {
    std::vector<std::string> command = {"train",        "contrastive", "--train",      pairs, "--validate-split", "0.3",
                                        "--model-dim",  "12",          "--heads",      "2",   "--layers",         "1",
                                        "--image-size", "8",           "--patch-size", "4",   "--epochs",         "2",
                                        "--batch-size", "8",           "--positions",  "16",  "--quiet"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  const TemporaryFolder folder;
  const std::string pairs = folder.File("pairs.tsv"), tokens = folder.File("tokens"), out = folder.File("out");
};

TEST_F(TrainContrastive, MakesAModelForTheOtherCommands) {
  for (const std::string architecture : {"clip", "siglip"}) {
    const std::string to = out + architecture;
    MustRun(Command({"--tokenizer", tokens, "--family", architecture, "--micro-batch-size", "3", "--out", to}));
    EXPECT_THAT(ReadFile(to + "/metrics.jsonl"), HasSubstr("\"image_recall\":"));
    EXPECT_THAT(RunProgram({"info", to}).out, HasSubstr(architecture));
    EXPECT_EQ(Lines(RunProgram({"classify", to, folder.File("3.png"), "--labels", "dogs", "cats"}).out).size(), 1U);
    const std::string scores = RunProgram({"evaluate", to, pairs, "--json"}).out;
    EXPECT_THAT(scores, testing::AllOf(HasSubstr("\"text_recall\":"), HasSubstr("\"pairs\":24")));
    // Resumes the training, and starts a new training run from the model.
    MustRun(Command({"--tokenizer", tokens, "--family", architecture, "--micro-batch-size", "3", "--out", to,
                     "--resume", "--epochs", "3"}));
    MustRun({"train", "contrastive", "--train", pairs, "--valid", pairs, "--from", to, "--epochs", "1", "--batch-size",
             "8", "--out", to + "2", "--quiet", "--random-resized-crop", "0.8"});
    EXPECT_EQ(Lines(RunProgram({"embed", to + "2", folder.File("captions.txt")}).out).size(), 24U);
  }
}

TEST_F(TrainContrastive, NamesAllDamagedImagesOrLeavesThemOut) {
  WriteFile(folder.File("zero.png"), "");
  WriteFile(folder.File("cut.png"), ReadFile(folder.File("0.png")).substr(0, 60));
  WriteFile(pairs, ReadFile(pairs) + "zero.png\tnothing\ncut.png\tdogs\n");
  const std::vector<std::string> command = {"train",        "contrastive", "--train",     pairs, "--valid",      pairs,
                                            "--tokenizer",  tokens,        "--model-dim", "12",  "--heads",      "2",
                                            "--layers",     "1",           "--steps",     "1",   "--image-size", "8",
                                            "--patch-size", "4",           "--positions", "16",  "--out",        out};
  Outcome outcome = RunProgram(command);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(folder.File("zero.png: ")));
  EXPECT_THAT(outcome.err, HasSubstr(folder.File("cut.png: ")));
  std::vector<std::string> skipping = command;
  skipping.emplace_back("--skip-errors");
  outcome = RunProgram(skipping);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: " + folder.File("zero.png: ")));
  EXPECT_THAT(outcome.err, HasSubstr("24 images with 24 texts to train on"));
}

// Checks that long texts are refused or truncated. Also trains on text pairs with hard negatives, which produces a
// sentence-transformers model.
TEST_F(TrainContrastive, RefusesLongTextsOrTruncatesThem) {
  WriteFile(pairs, ReadFile(pairs) + "0.png\t" + std::string(40, '7') + " 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n");
  std::vector<std::string> command = Command({"--tokenizer", tokens, "--out", out});
  EXPECT_THAT(RefusalOf(command), HasSubstr("1 text is longer than the 16 tokens that the model reads at once; "
                                            "--truncate leaves out the end"));
  command.emplace_back("--truncate");
  MustRun(command);
  const std::string texts = folder.File("texts.tsv");
  std::string lines = "1 2\t1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9\n";
  for (int i = 0; i < 16; ++i) lines += fmt::format("{} dogs\t{} cats\n", i, i);
  WriteFile(texts, lines);
  command = {"train",    "contrastive", "--train",     texts, "--valid",      texts, "--tokenizer", tokens,
             "--family", "bert",        "--model-dim", "12",  "--heads",      "2",   "--layers",    "1",
             "--steps",  "1",           "--positions", "16",  "--batch-size", "4",   "--out",       out + "3"};
  EXPECT_THAT(RunProgram(command).err,
              testing::ContainsRegex("texts.tsv:1: [0-9]+ tokens, and the model reads at most 16; --truncate "
                                     "leaves out its end"));
  command.emplace_back("--truncate");
  EXPECT_EQ(RunProgram(command).exit_code, 0);
}

TEST_F(TrainContrastive, MakesAnEncoderOfSentences) {
  std::string lines;
  for (int i = 0; i < 24; ++i)
    lines += fmt::format("{} dogs and {} cats\tA image of {} dogs and {} cats{}\n", i % 5, i / 5, i % 5, i / 5,
                         i % 3 == 0 ? "" : fmt::format("\tA image of {} cats", i));
  WriteFile(pairs, lines);
  const std::vector<std::string> command = {"train",        "contrastive", "--train",  pairs, "--validate-split", "0.3",
                                            "--batch-size", "8",           "--epochs", "2",   "--quiet"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = command;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  MustRun(with({"--family", "bert", "--tokenizer", tokens, "--model-dim", "12", "--heads", "2", "--layers", "1",
                "--positions", "24", "--micro-batch-size", "3", "--out", out}));
  const std::string info = RunProgram({"info", out, "--json"}).out;
  EXPECT_THAT(info, testing::AllOf(HasSubstr("\"pooling\":\"mean\""), HasSubstr("\"normalized\":true")));
  MustRun(with({"--from", out, "--scale", "10", "--out", out + "2"}));
  EXPECT_EQ(Lines(RunProgram({"embed", out + "2", folder.File("captions.txt")}).out).size(), 24U);
  EXPECT_THAT(RefusalOf(with({"--from", out, "--out", out + "3", "--images", tokens})),
              HasSubstr("--images: is not for a"));
}

TEST_F(TrainContrastive, NamesWhatIsWrong) {
  EXPECT_THAT(RefusalOf(Command({"--out", out})), HasSubstr("either --from DIR"));
  EXPECT_THAT(RefusalOf(Command({"--tokenizer", tokens, "--out", out, "--patch-size", "3"})),
              HasSubstr("not a multiple of --patch-size"));
  EXPECT_THAT(RefusalOf(Command({"--tokenizer", tokens, "--out", out, "--batch-size", "1"})),
              HasSubstr("at least 2 pairs"));
  EXPECT_THAT(RefusalOf(Command({"--tokenizer", tokens, "--out", out, "--family", "siglip", "--vector-dim", "4"})),
              HasSubstr("--vector-dim"));
  MustRun({"train", "tokenizer", "--byte-level", "--vocabulary-size", "300", "--out", folder.File("bytes"),
           folder.File("captions.txt")});
  EXPECT_THAT(RefusalOf(Command({"--tokenizer", folder.File("bytes"), "--out", out})),
              HasSubstr("no special token after a"));
  const std::string gpt = folder.File("gpt");
  std::filesystem::create_directory(gpt);
  SaveTinyGpt(gpt);
  EXPECT_THAT(RefusalOf({"train", "contrastive", "--train", pairs, "--valid", pairs, "--from", gpt, "--out", out}),
              HasSubstr("encoder of images and texts"));
  EXPECT_THAT(RefusalOf(Command({"--tokenizer", tokens, "--out", out, "--scale", "3"})),
              HasSubstr("--scale: is not for"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace headlight::train_contrastive_test

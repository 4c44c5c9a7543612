// Runs the program with mpirun. Checks that any number of ranks gives equal files, and tests the ways in which a rank
// can fail.
#include "headlight/cli/program/mpi_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/cli/program/rank_run_testing.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/synthetic/scene_files.h"

namespace headlight::mpi_ranks_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class MpiRanksTest : public RankTrainingTest {
 protected:
  // Expects that command(out) trains the same model as one process and as three ranks.
  void ExpectOneModel(const std::function<std::vector<std::string>(const std::string& out)>& command) const {
    MustRun(command("one"));
    RankRun run(3, {command("three")});
    ASSERT_EQ(run.End(), 0) << run.Printed();
    EXPECT_TRUE(ReadFile(In("one/model.safetensors")) == ReadFile(In("three/model.safetensors")));
    EXPECT_NE(Validations("one"), "");
    EXPECT_EQ(Validations("one"), Validations("three"));
  }

  // Returns the validation records of a training log. Each rank does a part of the validation.
  std::string Validations(const std::string& out) const {
    std::istringstream log(ReadFile(In(out + "/metrics.jsonl")));
    std::string validations;
    for (std::string line; std::getline(log, line);)
      if (line.find("validation_loss") != std::string::npos) validations += line + "\n";
    return validations;
  }
};

TEST_F(MpiRanksTest, AnyNumberOfRanksTrainsTheSameModel) {
  MustRun(Command("one", {"--steps", "6"}));
  for (const int size : {2, 3}) {
    const std::string out = fmt::format("ranks{}", size);
    std::vector<std::string> more = {"--steps", "6"};
    if (size == 3) more.emplace_back("--shard-optimizer");
    RankRun run(size, {Command(out, more)});
    ASSERT_EQ(run.End(), 0) << run.Printed();
    ExpectSame("one", out);
    EXPECT_EQ(Validations("one"), Validations(out));
    EXPECT_THAT(run.Printed(), HasSubstr("the best model, of step"));
    const std::string printed = run.Printed();
    EXPECT_EQ(printed.find("the best model"), printed.rfind("the best model")) << "more than one rank tells";
  }
}

// Checks that all ranks use AVX2 if the first rank's processor supports only AVX2.
TEST_F(MpiRanksTest, ProcessorsThatDifferTrainTheModelOfAvx2) {
  setenv("HEADLIGHT_CPU", "avx2", 1);
  MustRun(Command("one", {"--steps", "4"}));
  unsetenv("HEADLIGHT_CPU");
  const std::vector<std::string> command = Command("two", {"--steps", "4"});
  std::vector<std::string> launch = {"mpirun", "--oversubscribe",    "--allow-run-as-root",       "-n", "1",
                                     "-x",     "HEADLIGHT_CPU=avx2", BuildFolder() + "/headlight"};
  launch.insert(launch.end(), command.begin(), command.end());
  launch.emplace_back(":");
  RankRun run(1, {command}, launch);
  ASSERT_EQ(run.End(), 0) << run.Printed();
  ExpectSame("one", "two");
}

// Trains language models with several micro-batches per step.
class MpiRanksLanguageModelTest : public MpiRanksTest {
 protected:
  void ExpectOneLanguageModel(const std::vector<std::string>& more) const {
    fs::create_directory(In("tokens"));
    fs::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json",
             In("tokens/tokenizer.json"));
    ExpectOneModel([&](const std::string& out) {
      std::vector<std::string> command = {"train",          "language-model",
                                          "--train",        In("train.en"),
                                          "--valid",        In("valid.en"),
                                          "--tokenizer",    In("tokens"),
                                          "--out",          In(out),
                                          "--layers",       "1",
                                          "--model-dim",    "16",
                                          "--heads",        "2",
                                          "--positions",    "32",
                                          "--steps",        "4",
                                          "--batch-tokens", "100",
                                          "--accumulation", "3",
                                          "--threads",      "1"};
      command.insert(command.end(), more.begin(), more.end());
      return command;
    });
  }
};

TEST_F(MpiRanksLanguageModelTest, TrainsTheSameModelInBfloat16Gradients) {
  ExpectOneLanguageModel({"--gradient-type", "bfloat16"});
}

TEST_F(MpiRanksLanguageModelTest, TrainsTheSameLlama) { ExpectOneLanguageModel({"--family", "llama"}); }

// Checks mixture-of-experts models. The load-balancing loss is computed per micro-batch, so ranks need not exchange it.
TEST_F(MpiRanksLanguageModelTest, TrainsTheSameExperts) {
  ExpectOneLanguageModel({"--family", "qwen3_moe", "--experts", "4"});
}

// Checks image classification. Each rank decodes and augments the images of its micro-batches and the images with which
// they are mixed.
TEST_F(MpiRanksTest, ImagesTrainTheSameModel) {
  constexpr int count = 96;
  std::string images = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 8, 0, 0, 0, 8}, labels = {0, 0, 8, 1, 0, 0, 0, count};
  for (int i = 0; i < count; ++i) {
    labels += static_cast<char>(i % 2);
    for (int pixel = 0; pixel < 64; ++pixel) images += static_cast<char>(i * pixel % 120 + (i % 2) * 100);
  }
  WriteFile(In("train-images-idx3-ubyte"), images);
  WriteFile(In("train-labels-idx1-ubyte"), labels);
  const auto command = [&](const std::string& out) {
    return std::vector<std::string>{"train",
                                    "image-classification",
                                    "--train",
                                    In("train-images-idx3-ubyte"),
                                    In("train-labels-idx1-ubyte"),
                                    "--out",
                                    In(out),
                                    "--image-size",
                                    "8",
                                    "--validate-split",
                                    "0.3",
                                    "--patch-size",
                                    "1",
                                    "--layers",
                                    "1",
                                    "--steps",
                                    "3",
                                    "--model-dim",
                                    "16",
                                    "--heads",
                                    "2",
                                    "--batch-size",
                                    "60",
                                    "--mixup",
                                    "0.5",
                                    "--threads",
                                    "1",
                                    "--accumulation",
                                    "2"};
  };
  ExpectOneModel(command);
}

// Checks detection. A micro-batch needs the number of boxes in the other micro-batches, but their images are not
// decoded.
TEST_F(MpiRanksTest, ImagesWithBoxesTrainTheSameModel) {
  WriteScenes(In("scenes"), 16, 1, {.height = 48, .width = 64, .fewest = 1, .most = 4});
  WriteScenes(In("others"), 18, 2, {.height = 48, .width = 64, .fewest = 1, .most = 4});
  ExpectOneModel([&](const std::string& out) {
    return std::vector<std::string>{"train",         "detection",
                                    "--train",       In("scenes/annotations.json"),
                                    "--valid",       In("others/annotations.json"),
                                    "--out",         In(out),
                                    "--preset",      "small-scenes",
                                    "--augment",     "scale",
                                    "--image-size",  "384",
                                    "--layers",      "1",
                                    "--model-dim",   "16",
                                    "--heads",       "2",
                                    "--ffn-dim",     "16",
                                    "--num-queries", "4",
                                    "--batch-size",  "16",
                                    "--steps",       "2",
                                    "--threads",     "1"};
  });
}

// Checks image-text training. Each rank decodes the images of its batches.
TEST_F(MpiRanksTest, ImagesWithTextsTrainTheSameModel) {
  std::string lines, captions;
  for (int i = 0; i < 24; ++i) {
    Image image{.height = 8, .width = 8};
    for (int byte = 0; byte < 3 * 64; ++byte) image.pixels.push_back(static_cast<std::uint8_t>(i * byte % 251));
    WritePng(In(fmt::format("{}.png", i)), image);
    captions += fmt::format("An image of {} dogs and {} cats\n", i % 5, i / 5);
    lines += fmt::format("{}.png\tA image of {} dogs and {} cats\n", i, i % 5, i / 5);
  }
  WriteFile(In("pairs.tsv"), lines);
  WriteFile(In("captions.txt"), captions);
  MustRun({"train", "tokenizer", "--subword-type", "wordpiece", "--vocabulary-size", "80", "--out", In("words"),
           In("captions.txt")});
  ExpectOneModel([&](const std::string& out) {
    return std::vector<std::string>{"train",
                                    "contrastive",
                                    "--train",
                                    In("pairs.tsv"),
                                    "--validate-split",
                                    "0.3",
                                    "--out",
                                    In(out),
                                    "--tokenizer",
                                    In("words"),
                                    "--model-dim",
                                    "12",
                                    "--heads",
                                    "2",
                                    "--layers",
                                    "1",
                                    "--image-size",
                                    "8",
                                    "--patch-size",
                                    "4",
                                    "--positions",
                                    "16",
                                    "--batch-size",
                                    "4",
                                    "--random-resized-crop",
                                    "0.5",
                                    "--accumulation",
                                    "3",
                                    "--steps",
                                    "3",
                                    "--threads",
                                    "1"};
  });
}

TEST_F(MpiRanksTest, ARankThatIsKilledEndsTheRunWhichResumesOnAnotherNumber) {
  MustRun(Command("whole", {"--steps", "60"}));
  {
    RankRun run(2, {Command("cut", {"--steps", "100000"})});
    ASSERT_TRUE(run.Await("step 5  loss")) << run.Printed();
    const pid_t rank = run.ProcessOf(1);
    ASSERT_GT(rank, 0);
    kill(rank, SIGKILL);
    EXPECT_NE(run.End(), 0);
    EXPECT_THAT(run.Printed(), ContainsRegex("step [0-9]+: rank 1 \\(host .*\\) has not answered")) << run.Printed();
  }
  RankRun run(3, {Command("cut", {"--steps", "60", "--resume"})});
  ASSERT_EQ(run.End(), 0) << run.Printed();
  EXPECT_THAT(run.Printed(), HasSubstr("resumed after step"));
  ExpectSame("whole", "cut");
}

TEST_F(MpiRanksTest, ARankThatStallsEndsTheRunAtTheTimeOut) {
  RankRun run(2, {Command("cut", {"--steps", "100000", "--rank-timeout", "1"})});
  ASSERT_TRUE(run.Await("step 5  loss")) << run.Printed();
  const pid_t rank = run.ProcessOf(1);
  ASSERT_GT(rank, 0);
  kill(rank, SIGSTOP);
  EXPECT_NE(run.End(), 0);
  EXPECT_THAT(run.Printed(), ContainsRegex("rank 0 \\(host .*\\), step [0-9]+: rank 1 \\(host .*\\) has not answered "
                                           "for 1 seconds"));
}

TEST_F(MpiRanksTest, ASignalToOneRankSavesAndStopsAll) {
  MustRun(Command("whole", {"--steps", "60"}));
  RankRun run(2, {Command("cut", {"--steps", "100000"})});
  ASSERT_TRUE(run.Await("step 5  loss")) << run.Printed();
  kill(run.ProcessOf(1), SIGTERM);
  EXPECT_EQ(run.End(), 128 + SIGTERM) << run.Printed();
  EXPECT_THAT(run.Printed(), ContainsRegex("stopped after step [0-9]+; --resume continues from here"));
  MustRun(Command("cut", {"--steps", "60", "--resume"}));
  ExpectSame("whole", "cut");
}

TEST_F(MpiRanksTest, RanksOfAnotherCorpusAreRefused) {
  std::string other = ReadFile(In("train.en"));
  other.replace(0, 3, "One");
  WriteFile(In("other.en"), other);
  std::vector<std::string> second = Command("out", {"--steps", "2"});
  *std::ranges::find(second, In("train.en")) = In("other.en");
  RankRun run(2, {Command("out", {"--steps", "2"}), second});
  EXPECT_EQ(run.End(), 2);
  EXPECT_THAT(run.Printed(), ContainsRegex("headlight: rank 0 .*: rank 1 \\(host .*\\) has corpus_hash \"[0-9a-f]+\", "
                                           "and rank 0 has"));
  const std::string printed = run.Printed();
  EXPECT_EQ(printed.find("headlight: rank"), printed.rfind("headlight: rank")) << printed;
}

TEST_F(MpiRanksTest, TranslationsOfAllRanksComeInOrder) {
  fs::create_directory(In("model"));
  SaveTinyModel(In("model"));
  WriteFile(In("lines"), "a b\nb\nc a b\nb b\na\n");
  const std::vector<std::string> command = {"translate", In("model"), In("lines"), "--quiet"};
  RankRun run(3, {command});
  EXPECT_EQ(run.End(), 0);
  EXPECT_EQ(run.Printed(), RunProgram(command).out);
}

TEST_F(MpiRanksTest, VectorsOfAllRanksComeInOrder) {
  const std::string encoder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";
  WriteFile(In("lines"), "Two dogs.\nA green meadow.\n\nThe children are playing.\nA dog.\n");
  const auto command = [&](const char* option, const std::string& to) {
    return std::vector<std::string>{"embed", encoder, In("lines"), option, In(to), "--quiet"};
  };
  for (const auto& [option, one, all] : {std::tuple("--out", "one.npy", "all.npy"), {"--index", "one", "all"}}) {
    MustRun(command(option, one));
    RankRun run(3, {command(option, all)});
    ASSERT_EQ(run.End(), 0) << run.Printed();
  }
  EXPECT_TRUE(ReadFile(In("one.npy")) == ReadFile(In("all.npy")));
  const auto found = [&](const std::string& in) {
    return RunProgram({"search", In(in), "A dog.", "--top-k", "9"}).out;
  };
  EXPECT_EQ(found("all"), found("one"));
}

TEST_F(MpiRanksTest, ReportsTheOverlapOfCommunication) {
  RankRun run(2, {Command("out", {"--steps", "20", "--validate-every", "20", "--profile"})});
  ASSERT_EQ(run.End(), 0) << run.Printed();
  EXPECT_THAT(run.Printed(), ContainsRegex("2 ranks; in each step rank 0 sends [0-9.]+ MB, for [0-9.]+ ms, of which "
                                           "[0-9]+% pass while it computes; for [0-9.]+ ms it waits"));
}

TEST_F(MpiRanksTest, ACommandThatRanksDoNotShareIsRefused) {
  RankRun run(2, {{"info", In("nothing")}});
  EXPECT_EQ(run.End(), 2);
  EXPECT_THAT(run.Printed(), HasSubstr("headlight info does not run"));
}

}  // namespace
}  // namespace headlight::mpi_ranks_test

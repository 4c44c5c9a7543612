// Tests `headlight train translation` end to end, and its error messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/cli/program/testing.h"
#include "headlight/cli/train/sampled_pairs_testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/kernels/gemm.h"

namespace headlight::train_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;

class TrainTest : public testing::Test {
 protected:
  TrainTest() {
    WriteSampledPairs(In("train.de"), In("train.en"), 400);
    WriteFile(In("valid.de"), "Der Hund schläft.\nDie Katze schläft.\n");
    WriteFile(In("valid.en"), "The dog sleeps.\nThe cat sleeps.\n");
  }

  std::string In(const std::string& name) const { return folder_.File(name); }

  // Returns the command of a small training run on these files. The options in `more` override the default options.
  std::vector<std::string> Command(const std::vector<std::string>& more = {}, const std::string& train = "train.de",
                                   const std::string& out = "out") const {
    std::vector<std::string> arguments = {"train",   "translation",  "--train",      In(train), In("train.en"),
                                          "--valid", In("valid.de"), In("valid.en"), "--out",   In(out)};
    const std::vector<std::pair<std::string, std::string>> defaults = {
        {"--layers", "1"},    {"--model-dim", "16"},        {"--heads", "2"},   {"--ffn-dim", "16"},
        {"--steps", "12"},    {"--vocabulary-size", "300"}, {"--warmup", "10"}, {"--batch-tokens", "300"},
        {"--log-every", "4"}, {"--validate-every", "6"}};
    const auto given = [&](const char* name) { return std::find(more.begin(), more.end(), name) != more.end(); };
    for (const auto& [name, value] : defaults)
      if (!given(name.c_str()) && !(name == "--steps" && (given("--epochs") || given("--minutes"))))
        arguments.insert(arguments.end(), {name, value});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  // Returns the error message for an invalid option. A rejected run must leave no files.
  std::string Refusal(std::vector<std::string> more, const std::string& train = "train.de") {
    more.push_back("--quiet");
    const std::string error = RefusalOf(Command(more, train, "refused"));
    EXPECT_FALSE(fs::exists(In("refused/model.safetensors")));
    fs::remove_all(In("refused"));
    return error;
  }

  TemporaryFolder folder_;
};

TEST_F(TrainTest, AScheduleFallsToZeroAtTheLastEpochsEnd) {
  const Outcome outcome =
      RunProgram(Command({"--schedule", "cosine", "--learning-rate", "0.01", "--epochs", "2", "--log-every", "1"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string log = ReadFile(In("out/metrics.jsonl"));
  const auto last = log.rfind("\"learning_rate\":");
  ASSERT_NE(last, std::string::npos);
  EXPECT_LT(std::stod(log.substr(last + 16)), 0.001);
  EXPECT_THAT(log, HasSubstr("\"learning_rate\":0.01,"));
}

TEST_F(TrainTest, WritesAModelThatTranslatesAndAllThatBelongsToATraining) {
  const Outcome outcome = RunProgram(Command());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("400 pairs of 400"));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("epoch 1 step 6  validation: loss"));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("the best model, of step [0-9]+ \\(BLEU [0-9.]+\\), is in .*/out: "
                                                  "headlight translate .*/out\n$"));
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors", "source.spm", "vocab.json",
                           "tokenizer.json", "metrics.jsonl", "training.svg", "last/model.safetensors"})
    EXPECT_TRUE(fs::exists(In("out/") + file)) << file;
  const Outcome translated = RunProgram({"translate", In("out")}, "Der Hund schläft.\n\n");
  EXPECT_EQ(translated.exit_code, 0) << translated.err;
  EXPECT_EQ(std::count(translated.out.begin(), translated.out.end(), '\n'), 2);
}

TEST_F(TrainTest, OptionsComeFromAFileAndAPreset) {
  WriteFile(In("options.toml"), "layers = 2\n");
  std::vector<std::string> arguments = Command({"--quiet", "--preset", "multi30k"});
  arguments.erase(std::find(arguments.begin(), arguments.end(), "--layers"),
                  std::find(arguments.begin(), arguments.end(), "--layers") + 2);
  arguments.insert(arguments.end(), {"--config", In("options.toml")});
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(ReadFile(In("out/config.json")), HasSubstr("\"encoder_layers\": 2"));
  EXPECT_THAT(ReadFile(In("out/config.json")), HasSubstr("\"dropout\": 0.2"));
}

TEST_F(TrainTest, TheDecoderHasItsOwnDepthAndRDropItsOwnLoss) {
  ASSERT_EQ(RunProgram(Command({"--layers", "2"}, "train.de", "plain")).exit_code, 0);
  ASSERT_EQ(RunProgram(Command({"--layers", "2", "--decoder-layers", "1", "--r-drop", "2"})).exit_code, 0);
  EXPECT_THAT(ReadFile(In("out/config.json")), HasSubstr("\"encoder_layers\": 2"));
  EXPECT_THAT(ReadFile(In("out/config.json")), HasSubstr("\"decoder_layers\": 1"));
  EXPECT_NE(ReadFile(In("out/metrics.jsonl")), ReadFile(In("plain/metrics.jsonl")));
  EXPECT_THAT(RunProgram(Command({"--resume", "--layers", "2", "--decoder-layers", "1"})).err,
              HasSubstr("--r-drop 2.0, and now it"));
  EXPECT_THAT(RunProgram(Command({"--resume", "--layers", "2", "--r-drop", "2"})).err, HasSubstr("--decoder-layers"));
  EXPECT_THAT(Refusal({"--r-drop", "-1"}), HasSubstr("--r-drop"));
}

TEST_F(TrainTest, AKilledTrainingGoesOnAndEndsTheSame) {
  ASSERT_EQ(RunProgram(Command({"--steps", "30", "--threads", "1"}, "train.de", "whole")).exit_code, 0);
  // Kills the training as soon as a checkpoint exists.
  const int null = open("/dev/null", O_RDWR);
  const pid_t process = StartProgram(Command({"--steps", "30", "--threads", "1"}), null, null, null);
  for (int i = 0; i < 3000 && !fs::exists(In("out/checkpoint/state.json")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGKILL);
  AwaitProgram(process);
  close(null);
  const Outcome resumed = RunProgram(Command({"--steps", "30", "--threads", "1", "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step"));
  EXPECT_EQ(ReadFile(In("out/last/model.safetensors")), ReadFile(In("whole/last/model.safetensors")));
}

TEST_F(TrainTest, AKillWhileTheVocabularyIsSavedLeavesATrainingThatResumes) {
  ASSERT_EQ(RunProgram(Command({}, "train.de", "whole")).exit_code, 0);
  fs::create_directory(In("out"));
  // Simulates a training run that was killed while it wrote training.json.
  WriteFile(In("out/training.json.headlight-new-0"), "{");
  ASSERT_EQ(RunProgram(Command({"--resume"})).exit_code, 0);
  EXPECT_TRUE(ReadFile(In("out/last/model.safetensors")) == ReadFile(In("whole/last/model.safetensors")));
  fs::remove_all(In("out"));
  fs::create_directory(In("out"));
  for (const char* file : {"training.json", "source.spm"}) fs::copy(In("whole/") + file, In("out/") + file);
  const Outcome resumed = RunProgram(Command({"--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(ReadFile(In("out/last/model.safetensors")) == ReadFile(In("whole/last/model.safetensors")));
}

TEST_F(TrainTest, LogsNoStepsIfTheIntervalIsZero) {
  ASSERT_EQ(RunProgram(Command({"--log-every", "0"})).exit_code, 0);
  EXPECT_THAT(ReadFile(In("out/metrics.jsonl")), Not(HasSubstr("learning_rate")));
}

TEST_F(TrainTest, StopsInValidationAfterAnInterrupt) {
  std::string german, english;  // a long validation set
  for (int i = 0; i < 20000; ++i) german += "Der Hund schläft.\n", english += "The dog sleeps.\n";
  WriteFile(In("valid.de"), german);
  WriteFile(In("valid.en"), english);
  const auto pipe_for_notes = [] {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    return std::pair(ends[0], ends[1]);
  };
  const auto [notes, written] = pipe_for_notes();
  const int null = open("/dev/null", O_RDWR);
  const pid_t process = StartProgram(Command({"--steps", "6", "--log-every", "6"}), null, null, written);
  close(written);
  std::string seen;
  char letter = 0;
  while (seen.find("step 6 ") == std::string::npos && read(notes, &letter, 1) == 1) seen += letter;
  kill(process, SIGINT);  // sent after the last step is logged, while its validation runs
  while (read(notes, &letter, 1) == 1) seen += letter;
  close(notes);
  close(null);
  EXPECT_EQ(AwaitProgram(process), 128 + SIGINT) << seen;
  EXPECT_THAT(seen, HasSubstr("stopped after step 6; --resume"));
  EXPECT_THAT(seen, Not(HasSubstr("validation:")));
  const Outcome resumed = RunProgram(Command({"--steps", "6", "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("validation:"));
}

TEST_F(TrainTest, NamesBothLineCounts) {
  WriteFile(In("short.de"), "Ein Hund.\n");
  EXPECT_THAT(Refusal({}, "short.de"), testing::AllOf(HasSubstr("1 lines"), HasSubstr("400")));
}

TEST_F(TrainTest, NamesFilesThatCannotBeRead) {
  EXPECT_THAT(Refusal({}, "missing.de"), HasSubstr("missing.de"));
  WriteFile(In("empty.de"), "");
  EXPECT_THAT(Refusal({}, "empty.de"), HasSubstr("empty.de"));
  WriteFile(In("broken.de"), "Ein Hund.\nEin \xff Hund.\n");
  EXPECT_THAT(Refusal({}, "broken.de"), testing::AllOf(HasSubstr("broken.de"), HasSubstr("line 2")));
  EXPECT_THAT(Refusal({}, "."), Not(IsEmpty()));
}

TEST_F(TrainTest, NamesAVocabularySmallerThanTheTextNeeds) {
  EXPECT_THAT(RefusalOf(Command({"--vocabulary-size", "5", "--quiet"})), HasSubstr("--vocabulary-size is 5"));
  EXPECT_THAT(RefusalOf(Command({"--vocabulary-size", "90000", "--quiet"})), HasSubstr("--vocabulary-size is 90000"));
  EXPECT_FALSE(fs::exists(In("out")));  // a corrected command can use the same folder
}

// Checks that Hugging Face's JSON lines of translations give the same model as two text files.
TEST_F(TrainTest, ReadsPairsOfOneFile) {
  const auto pairs = [&](const char* from, const char* to) {
    std::string json;
    const std::vector<std::string> source = Lines(ReadFile(In(std::string(from) + ".de"))),
                                   target = Lines(ReadFile(In(std::string(from) + ".en")));
    for (std::size_t i = 0; i < source.size(); ++i)
      json += Json(Json::Object{{"translation", Json::Object{{"de", source[i]}, {"en", target[i]}}}}).Line() + "\n";
    WriteFile(In(to), json);
  };
  pairs("train", "train.jsonl");
  pairs("valid", "valid.jsonl");
  std::vector<std::string> arguments = Command({"--source-column", "de", "--target-column", "en"}, "train.jsonl");
  for (const char* extra : {"train.en", "valid.en"}) std::erase(arguments, In(extra));
  std::ranges::replace(arguments, In("valid.de"), In("valid.jsonl"));
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(RunProgram(Command({}, "train.de", "of_lines")).exit_code, 0);
  EXPECT_EQ(ReadFile(In("out/model.safetensors")), ReadFile(In("of_lines/model.safetensors")));
  const Outcome scored =
      RunProgram({"evaluate", In("out"), In("valid.jsonl"), "--source-column", "de", "--target-column", "en"});
  EXPECT_EQ(scored.out, RunProgram({"evaluate", In("out"), In("valid.de"), "--reference", In("valid.en")}).out)
      << scored.err;
  EXPECT_THAT(RefusalOf({"evaluate", In("out"), In("valid.jsonl")}),
              HasSubstr("--source-column must name the language"));
  EXPECT_THAT(Refusal({"--source-column", "de"}), HasSubstr("its columns have no names"));
  WriteFile(In("train.en.jsonl"), "{}\n");
  EXPECT_THAT(RefusalOf({"train", "translation", "--train", In("train.jsonl"), In("train.en.jsonl"), "--valid",
                         In("valid.de"), In("valid.en"), "--out", In("refused"), "--steps", "1", "--warmup", "1"}),
              HasSubstr("train.jsonl: has records"));
  EXPECT_THAT(RefusalOf({"train", "translation", "--train", In("a"), In("b"), In("c"), "--valid", In("valid.de"),
                         In("valid.en"), "--out", In("refused")}),
              HasSubstr("two files each"));
}

TEST_F(TrainTest, AShareOfThePairsIsHeldOut) {
  std::vector<std::string> arguments = Command({"--validate-split", "0.1"});
  EXPECT_THAT(RefusalOf(arguments), HasSubstr("--validate-split replaces --valid"));
  const auto valid = std::find(arguments.begin(), arguments.end(), "--valid");
  arguments.erase(valid, valid + 3);
  const auto refusal = [&](const std::string& share) {
    std::vector<std::string> with_share = arguments;
    with_share.insert(with_share.end(), {"--quiet", "--validate-split", share});
    return RefusalOf(with_share);
  };
  EXPECT_THAT(refusal("0.00001"), HasSubstr("none are held out, to"));
  EXPECT_THAT(refusal("0.99999"), HasSubstr("no pair is left"));
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::ContainsRegex("3[0-9][0-9] pairs of 3[0-9][0-9]"));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("[0-9]+ pairs are held out to validate on"));
}

// Simulates a failed start on a full disk that has space only for the configuration.
TEST_F(TrainTest, AStartThatFailedDoesNotBlockTheNext) {
  fs::create_directory(In("out"));
  for (const char* file : {"training.json", "config.json", "generation_config.json"})
    WriteFile(In("out/") + file, "{}");
  EXPECT_THAT(RefusalOf(Command({"--validate-metric", "none", "--quiet"})), HasSubstr("--validate-metric none"));
  EXPECT_TRUE(fs::is_empty(In("out")));
}

TEST_F(TrainTest, AKilledStartCanBeRepeated) {
  ASSERT_EQ(RunProgram(Command({}, "train.de", "whole")).exit_code, 0);
  ASSERT_EQ(RunProgram(Command({"--vocabulary-size", "280"}, "train.de", "other")).exit_code, 0);
  fs::create_directory(In("out"));
  for (const char* file : {"training.json", "source.spm", "target.spm", "vocab.json", "corpus.cache"})
    fs::copy(In("other/") + file, In("out/") + file);
  const Outcome outcome = RunProgram(Command());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(ReadFile(In("out/last/model.safetensors")) == ReadFile(In("whole/last/model.safetensors")));
}

TEST_F(TrainTest, AShortTrainingHasAShortWarmUp) {
  std::vector<std::string> arguments = Command({"--quiet", "--schedule", "cosine", "--learning-rate", "0.01"});
  const auto warmup = std::find(arguments.begin(), arguments.end(), "--warmup");
  arguments.erase(warmup, warmup + 2);
  const Outcome outcome = RunProgram(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(TrainTest, ThePresetOfASmallCorpusHasAShortWarmUp) {
  std::vector<std::string> arguments = Command({"--quiet", "--preset", "multi30k"});
  const auto warmup = std::find(arguments.begin(), arguments.end(), "--warmup");
  arguments.erase(warmup, warmup + 2);
  const Outcome outcome = RunProgram(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(TrainTest, NamesImpossibleHyperparameters) {
  EXPECT_THAT(Refusal({"--heads", "3"}), HasSubstr("--heads 3 does not divide"));
  EXPECT_THAT(Refusal({"--model-dim", "0"}), HasSubstr("--model-dim must be from 1"));
  EXPECT_THAT(Refusal({"--layers", "-1"}), HasSubstr("layers"));
  EXPECT_THAT(Refusal({"--dropout", "1"}), HasSubstr("dropout"));
  EXPECT_THAT(Refusal({"--dropout", "nan"}), HasSubstr("dropout"));
  EXPECT_THAT(Refusal({"--learning-rate", "nan"}), HasSubstr("--learning-rate must be a finite"));
  EXPECT_THAT(Refusal({"--learning-rate", "-1"}), HasSubstr("--learning-rate must be above 0,"));
  EXPECT_THAT(Refusal({"--warmup", "0"}), HasSubstr("--warmup must be at least"));
  EXPECT_THAT(Refusal({"--label-smoothing", "1"}), HasSubstr("--label-smoothing must be at least"));
  EXPECT_THAT(Refusal({"--batch-tokens", "0"}), Not(IsEmpty()));
  EXPECT_THAT(Refusal({"--threads", "0"}), HasSubstr("threads"));
  EXPECT_THAT(Refusal({"--layers", "many"}), HasSubstr("--layers"));
  EXPECT_THAT(Refusal({"--preset", "huge"}), HasSubstr("huge"));
}

TEST_F(TrainTest, SaysWhatItComputesIn) {
  EXPECT_THAT(RunProgram(Command({"--compute", "float32"})).err, HasSubstr("computing in float32"));
  const bool has = kernels::CpuHas(Compute::bfloat16);
  const Outcome automatic = RunProgram(Command({"--compute", "auto"}, "train.de", "auto"));
  EXPECT_THAT(automatic.err, HasSubstr(has ? "computing in bfloat16" : "computing in float32"));
  const Outcome asked = RunProgram(Command({"--compute", "bfloat16"}, "train.de", "asked"));
  EXPECT_EQ(asked.exit_code, has ? 0 : 2);
  EXPECT_THAT(asked.err, HasSubstr(has ? "computing in bfloat16" : "does not support it"));
  EXPECT_THAT(Refusal({"--compute", "float16"}), HasSubstr("--compute"));
}

TEST_F(TrainTest, ReportsAProfile) {
  const Outcome outcome = RunProgram(Command({"--profile", "--validate-every", "12"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("7 steps of"));
  for (const char* operation :
       {"product, 16 to 48", "weight gradient, 16 to 300", "attention gradient", "Adam", "GFLOP/s", "everything else"})
    EXPECT_THAT(outcome.err, HasSubstr(operation));
  EXPECT_THAT(RunProgram(Command({}, "train.de", "other")).err, Not(HasSubstr("everything else")));
}

TEST_F(TrainTest, LeavesAFolderThatHoldsSomethingElse) {
  fs::create_directory(In("out"));
  WriteFile(In("out/letter.txt"), "dear");
  EXPECT_THAT(RefusalOf(Command()), HasSubstr("letter.txt"));
  EXPECT_EQ(ReadFile(In("out/letter.txt")), "dear");
}

TEST_F(TrainTest, DoesNotOverwriteATraining) {
  ASSERT_EQ(RunProgram(Command()).exit_code, 0);
  const std::string model = ReadFile(In("out/model.safetensors"));
  EXPECT_THAT(RefusalOf(Command()), HasSubstr("--resume"));
  EXPECT_EQ(ReadFile(In("out/model.safetensors")), model);
}

TEST_F(TrainTest, AnotherTrainingIsNotResumed) {
  ASSERT_EQ(RunProgram(Command()).exit_code, 0);
  EXPECT_THAT(RunProgram(Command({"--resume", "--dropout", "0.2"})).err, HasSubstr("dropout"));
  EXPECT_THAT(RunProgram(Command({"--resume", "--freeze", "model.encoder.*"})).err, HasSubstr("--freeze or --rate"));
  EXPECT_THAT(RunProgram(Command({"--resume", "--layer-decay", "0.9"})).err, HasSubstr("--layer-decay 1.0, and now"));
  EXPECT_THAT(RunProgram(Command({"--resume", "--vocabulary-size", "290"})).err,
              HasSubstr("--vocabulary-size 300, and now"));
  EXPECT_THAT(RunProgram(Command({"--resume", "--no-tie-output"})).err, HasSubstr("--no-tie-output"));
}

// Checks that training is not resumed with another validation set, because the scores would not be comparable.
TEST_F(TrainTest, AnotherValidationSetIsNotResumed) {
  ASSERT_EQ(RunProgram(Command()).exit_code, 0);
  const std::string text = ReadFile(In("valid.en"));
  WriteFile(In("valid.en"), "The dog sleeps.\nThe cat is awake.\n");
  const Outcome refused = RunProgram(Command({"--resume", "--steps", "14"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("began with another --valid"));
  WriteFile(In("valid.en"), text);
  EXPECT_EQ(RunProgram(Command({"--resume", "--steps", "14"})).exit_code, 0);
}

TEST_F(TrainTest, AValidationSetWithoutTextIsRefused) {
  for (const char* file : {"valid.de", "valid.en"}) {
    const std::string text = ReadFile(In(file));
    WriteFile(In(file), " \n\n");
    EXPECT_THAT(Refusal({}), HasSubstr(std::string(file) + ": there is no text in it"));
    WriteFile(In(file), text);
  }
}

TEST_F(TrainTest, AnExplodingLossStopsAndKeepsTheCheckpoint) {
  Outcome outcome = RunProgram(Command({"--learning-rate", "1e30", "--warmup", "7", "--steps", "50"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the training has diverged: "));
  EXPECT_THAT(outcome.err, HasSubstr("there is no checkpoint yet"));
  // The training diverges after several validations and checkpoints.
  outcome = RunProgram(Command({"--learning-rate", "1e8", "--warmup", "30", "--steps", "50", "--validate-every", "1"},
                               "train.de", "later"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(In("later/checkpoint") + " (step "));
  EXPECT_THAT(outcome.err, HasSubstr(", learning rate "));
}

TEST_F(TrainTest, ATerminalThatGoesAwayEndsItWithACheckpoint) {
  ASSERT_EQ(RunProgram(Command({"--steps", "400"}, "train.de", "whole")).exit_code, 0);
  std::vector<std::string> command = Command({"--steps", "400"});
  command.insert(command.begin(), "headlight");
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process == 0) {
    execv((BuildFolder() + "/headlight").c_str(), argv.data());
    _exit(127);
  }
  std::string seen;
  char letter = 0;
  while (seen.find("] epoch") == std::string::npos && read(terminal, &letter, 1) == 1) seen += letter;
  close(terminal);
  EXPECT_EQ(AwaitProgram(process), 128 + SIGHUP) << seen;
  const Outcome resumed = RunProgram(Command({"--steps", "400", "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step"));
  EXPECT_TRUE(ReadFile(In("out/last/model.safetensors")) == ReadFile(In("whole/last/model.safetensors")));
}

TEST_F(TrainTest, ADiskThatIsFullKeepsTheLastCheckpoint) {
  ASSERT_EQ(RunProgram(Command({"--steps", "24"}, "train.de", "whole")).exit_code, 0);
  ASSERT_EQ(RunProgram(Command({"--steps", "12"})).exit_code, 0);
  const std::string model = ReadFile(In("out/model.safetensors"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{static_cast<rlim_t>(fs::file_size(In("out/model.safetensors")) / 2), before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);  // limits the file size, to simulate a full disk while a checkpoint is saved
  const Outcome full = RunProgram(Command({"--steps", "24", "--resume"}));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(full.exit_code, 2) << full.err;
  EXPECT_THAT(full.err, HasSubstr("cannot write"));
  EXPECT_TRUE(ReadFile(In("out/model.safetensors")) == model);
  const Outcome resumed = RunProgram(Command({"--steps", "24", "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(ReadFile(In("out/last/model.safetensors")) == ReadFile(In("whole/last/model.safetensors")));
}

}  // namespace
}  // namespace headlight::train_test

// Tests the folder, the schedule and the end of training runs, and tests fine-tuning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headlight/cli/program/testing.h"
#include "headlight/data/text_reader.h"

namespace headlight::training_run_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
namespace fs = std::filesystem;

// A folder with a tokenizer, forty texts and their classes.
class TrainingRunTest : public testing::Test {
 protected:
  TrainingRunTest() {
    fs::create_directory(In("tokens"));
    fs::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json",
             In("tokens/tokenizer.json"));
    std::string classes;
    for (int i = 0; i < 20; ++i) classes += "the dog runs\tanimal\na man plays\thuman\n";
    WriteFile(In("classes"), classes);
  }

  std::string In(const std::string& name) const { return folder_.File(name); }

  std::vector<std::string> Arguments(const std::string& out, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"train",       "classification", "--train", In("classes"), "--valid",
                                          In("classes"), "--batch-tokens", "50",      "--threads",   "1",
                                          "--out",       In(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Outcome Train(const std::string& out, std::vector<std::string> more) const {
    more.insert(more.end(), {"--tokenizer", In("tokens"), "--layers", "1", "--model-dim", "16", "--heads", "2",
                             "--positions", "16", "--log-every", "1"});
    return RunProgram(Arguments(out, more));
  }

  // Returns the learning rates in metrics.jsonl, by step.
  std::map<std::int64_t, double> LearningRates(const std::string& out) const {
    std::map<std::int64_t, double> rates;
    for (const std::string& line : AllTexts(In(out + "/metrics.jsonl"), {.format = TextFormat::text})) {
      const JsonView json(ParseJson(line, "metrics"), "metrics");
      if (json["learning_rate"].present()) rates[json["step"].Integer()] = json["learning_rate"].Number();
    }
    return rates;
  }

  // Returns all files of a training run's folder except its lock file.
  std::map<std::string, std::string> Files(const std::string& out) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(In(out)))
      if (entry.is_regular_file() && entry.path().filename() != "training.json")
        files[entry.path().string()] = ReadFile(entry.path());
    return files;
  }

  TemporaryFolder folder_;
};

TEST_F(TrainingRunTest, TwoDoNotShareAFolder) {
  ASSERT_EQ(Train("out", {"--epochs", "1"}).exit_code, 0);
  const auto before = Files("out");
  const int lock = open(In("out/training.json").c_str(), O_RDONLY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume", "--epochs", "2"}}) {
    const Outcome second = Train("out", more);
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_THAT(second.err, ContainsRegex("/out: another training \\(process [0-9]+\\) is running in this folder"));
  }
  EXPECT_EQ(Files("out"), before);
  close(lock);
  EXPECT_EQ(Train("out", {"--resume", "--epochs", "2"}).exit_code, 0);
}

TEST_F(TrainingRunTest, ALongerTrainingFollowsTheScheduleOfItsNewEnd) {
  ASSERT_EQ(Train("whole", {"--epochs", "4"}).exit_code, 0);
  ASSERT_EQ(Train("out", {"--epochs", "2"}).exit_code, 0);
  const std::map<std::int64_t, double> shorter = LearningRates("out");
  const Outcome longer = Train("out", {"--epochs", "4", "--resume"});
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_THAT(longer.err, ContainsRegex("resumed after step [0-9]+"));
  const std::map<std::int64_t, double> rates = LearningRates("out"), whole = LearningRates("whole");
  ASSERT_EQ(rates.size(), whole.size());
  EXPECT_EQ(rates.size(), 2 * shorter.size());
  EXPECT_LT(rates.rbegin()->second, 1e-4);
  const std::int64_t reached = shorter.rbegin()->first;
  EXPECT_GT(rates.at(reached + 1), 1e-4);  // the shorter schedule ended at 0
  for (const auto& [step, rate] : shorter) EXPECT_EQ(rates.at(step), rate) << step;
}

TEST_F(TrainingRunTest, ATrainingThatHasEndedStaysAsItIs) {
  const std::vector<std::string> options = {"--epochs", "4", "--patience", "1", "--average-last", "2"};
  ASSERT_EQ(Train("out", options).exit_code, 0);
  const auto before = Files("out");
  std::vector<std::string> again = options;
  again.emplace_back("--resume");
  const Outcome outcome = Train("out", again);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ContainsRegex("/out: this training has ended, at step [0-9]+; a larger --epochs or "
                                         "--patience continues it"));
  EXPECT_EQ(Files("out"), before);
  again[1] = "6";
  again[3] = "100";
  EXPECT_THAT(Train("out", again).err, HasSubstr("resumed after step"));
}

TEST_F(TrainingRunTest, EndsWithTheBestModelAndTheCommandThatUsesIt) {
  const Outcome outcome = Train("out", {"--epochs", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ContainsRegex("the best model, of step [0-9]+ \\(accuracy [0-9.]+\\), is in .*/out: "
                                         "headlight classify .*/out\n$"));
  EXPECT_THAT(outcome.err, ContainsRegex("\nepoch 1 step 1  loss "));
  EXPECT_THAT(outcome.err, ContainsRegex("\nepoch 1 step [0-9]+  validation: loss "));
  EXPECT_THAT(outcome.err, ContainsRegex("\nepoch 2 step [0-9]+  validation: loss "));
}

TEST_F(TrainingRunTest, TheBestIsChosenByTheScoreThatIsAskedFor) {
  const Outcome outcome = Train("out", {"--epochs", "2", "--validate-metric", "loss"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ContainsRegex("the best model, of step [0-9]+ \\(loss [0-9.]+\\)"));
  EXPECT_THAT(Train("other", {"--validate-metric", "bleu"}).err,
              HasSubstr("--validate-metric bleu: the validations of"));
  EXPECT_FALSE(fs::exists(In("other")));
}

TEST_F(TrainingRunTest, ParametersHaveTheirOwnLearningRates) {
  ASSERT_EQ(Train("start", {"--epochs", "1"}).exit_code, 0);
  const auto trained = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.end(), {"--from", In("start"), "--epochs", "1", "--clip-norm", "0", "--quiet"});
    const Outcome outcome = RunProgram(Arguments(out, more));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return ReadFile(In(out + "/last/model.safetensors"));
  };
  const std::string frozen = trained("frozen", {"--freeze", "bert.*"});
  EXPECT_TRUE(frozen == trained("rate", {"--rate", "bert.*=0"}));
  EXPECT_FALSE(frozen == trained("all", {}));
  EXPECT_FALSE(frozen == trained("decay", {"--layer-decay", "0.5"}));
  const auto refused = [&](const std::string& option, const std::string& value) {
    return Train("refused", {option, value}).err;
  };
  EXPECT_THAT(refused("--freeze", "encoder.layer.7.*"), HasSubstr("similar names are bert.encoder.layer.0."));
  EXPECT_THAT(refused("--freeze", "*"), HasSubstr("every parameter is frozen"));
  EXPECT_THAT(refused("--rate", "decoder.*=0.5"), HasSubstr("no parameter's name matches 'decoder.*'"));
  for (const char* rate : {"bert.*", "=1", "bert.*=", "bert.*=nan", "bert.*=-1", "bert.*=1x"})
    EXPECT_THAT(refused("--rate", rate), HasSubstr(std::string("--rate ") + rate)) << rate;
  EXPECT_FALSE(fs::exists(In("refused")));
}

TEST_F(TrainingRunTest, AModelToGoOnFromKeepsItsSizesAndTakesADropout) {
  ASSERT_EQ(Train("start", {"--epochs", "1", "--dropout", "0.2"}).exit_code, 0);
  EXPECT_THAT(ReadFile(In("start/config.json")), HasSubstr("\"attention_probs_dropout_prob\": 0.2"));
  const auto further = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.end(), {"--from", In("start"), "--quiet"});
    const Outcome outcome = RunProgram(Arguments(out, more));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return ReadFile(In(out + "/config.json"));
  };
  EXPECT_THAT(further("same", {}), HasSubstr("\"hidden_dropout_prob\": 0.2"));
  const std::string config = further("other", {"--dropout", "0.5", "--attention-dropout", "0.25"});
  EXPECT_THAT(config, HasSubstr("\"hidden_dropout_prob\": 0.5"));
  EXPECT_THAT(config, HasSubstr("\"attention_probs_dropout_prob\": 0.25"));
  EXPECT_FALSE(ReadFile(In("same/last/model.safetensors")) == ReadFile(In("other/last/model.safetensors")));
  // Checks the default options of fine-tuning.
  const JsonView state = ReadJson(In("same/checkpoint/state.json"));
  EXPECT_EQ(state["epoch"].Integer(), 3);
  EXPECT_EQ(state["run"]["learning_rate"].Number(), 5e-5);
  EXPECT_EQ(state["run"]["weight_decay"].Number(), 0.01);
  EXPECT_EQ(state["run"]["warmup"].Integer(), std::max<std::int64_t>(1, state["step"].Integer() / 10));
  EXPECT_THAT(RunProgram({"train", "classification", "--help"}).out, HasSubstr("with --from 0.00005"));
}

TEST_F(TrainingRunTest, SizesAreOfAModelFromScratch) {
  for (const char* task : {"masked-language-model", "classification", "tagging", "question-answering", "language-model",
                           "seq2seq", "span-corruption", "denoising"})
    for (const char* size : {"--layers", "--model-dim", "--heads", "--ffn-dim", "--positions", "--family"}) {
      const bool cuts = task == std::string("span-corruption") || task == std::string("denoising");
      if (size == std::string("--positions") && cuts) continue;  // here, --positions is the length of text pieces
      const Outcome outcome = RunProgram({"train", task, "--train", "t", "--valid", "v", "--out", In("out"), "--from",
                                          In("tokens"), size, size == std::string("--family") ? "t5" : "8"});
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, HasSubstr(size)) << task;
    }
}

TEST_F(TrainingRunTest, AShareOfTheTextsIsHeldOut) {
  std::string classes, texts;
  for (int i = 0; i < 100; ++i) {
    classes += fmt::format("the dog runs {}\t{}\n", i, i % 2 == 0 ? "even" : "odd");
    texts += fmt::format("the dog runs {}\n", i);
  }
  WriteFile(In("hundred"), classes);
  WriteFile(In("texts"), texts);
  const auto split = [&](const char* task, const std::string& file, const char* seed, std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "train",   task,      "--train",          In(file), "--tokenizer", In("tokens"),
        "--out",   In("out"), "--validate-split", "0.2",    "--steps",     "1",
        "--seed",  seed,      "--layers",         "1",      "--model-dim", "16",
        "--heads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = RunProgram(arguments);
    fs::remove_all(In("out"));
    return outcome;
  };
  for (const char* seed : {"1", "2"}) {
    const Outcome outcome = split("classification", "hundred", seed, {});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    int learned = 0, validated = 0;
    ASSERT_EQ(std::sscanf(outcome.err.c_str() + outcome.err.find("hundred: "), "hundred: %d", &learned), 1);
    ASSERT_EQ(std::sscanf(outcome.err.c_str() + outcome.err.rfind("hundred: "), "hundred: %d", &validated), 1);
    EXPECT_EQ(learned + validated, 100);
    EXPECT_GT(validated, 5);
    EXPECT_LT(validated, 40);
  }
  EXPECT_EQ(split("masked-language-model", "texts", "1", {}).exit_code, 0);
  EXPECT_THAT(split("classification", "hundred", "1", {"--valid", In("classes")}).err,
              HasSubstr("--validate-split replaces --valid"));
  EXPECT_THAT(
      RunProgram({"train", "classification", "--train", In("hundred"), "--tokenizer", In("tokens"), "--out", In("out")})
          .err,
      HasSubstr("--valid FILE ... or --validate-split"));
}

TEST_F(TrainingRunTest, AShareThatLeavesNothingIsRefused) {
  const auto refusal = [&](const std::string& file, const std::string& share) {
    return RefusalOf({"train", "classification", "--train", file, "--tokenizer", In("tokens"), "--out", In("out"),
                      "--validate-split", share, "--quiet"},
                     "a dog\tx\n");
  };
  EXPECT_THAT(refusal(In("classes"), "0.0001"), HasSubstr("--validate-split 0.0001: of the texts"));
  EXPECT_THAT(refusal(In("classes"), "0.0001"), HasSubstr("none are held out"));
  EXPECT_THAT(refusal(In("classes"), "0.9999"), HasSubstr("left to train on"));
  EXPECT_THAT(refusal("-", "0.5"), HasSubstr("standard input: it can be"));
  EXPECT_FALSE(fs::exists(In("out")));
}

// Checks the minimum of --positions. With one position, text pieces would have no tokens and splitting would not end.
TEST_F(TrainingRunTest, ALanguageModelNeedsTwoPositions) {
  EXPECT_THAT(RefusalOf({"train", "language-model", "--train", In("classes"), "--valid", In("classes"), "--tokenizer",
                         In("tokens"), "--out", In("out"), "--positions", "1"}),
              HasSubstr("--positions 1: after the token"));
}

TEST_F(TrainingRunTest, AMissingFileIsReportedBeforeAnythingIsRead) {
  const Outcome outcome = RunProgram({"train", "classification", "--train", In("classes"), "--valid", In("missing"),
                                      "--tokenizer", In("tokens"), "--out", In("out")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/missing: "));
  EXPECT_EQ(outcome.err.find("texts,"), std::string::npos);  // the note with the number of texts
  EXPECT_FALSE(fs::exists(In("out")));
}

}  // namespace
}  // namespace headlight::training_run_test

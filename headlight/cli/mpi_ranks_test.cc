// The program under mpirun: the same files from any number of ranks, and every way in which a rank can be lost.
#include "headlight/cli/mpi_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/cli/sampled_pairs_testing.h"
#include "headlight/cli/testing.h"

namespace headlight {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Of a file of /proc, which has no size; "" where its process has ended.
std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A run of several ranks, each of one thread, that may be started on different commands.
class RankRun {
 public:
  // commands: of each rank; the last one's is that of all further ones, too.
  RankRun(int size, const std::vector<std::vector<std::string>>& commands) : err_(std::tmpfile()) {
    std::vector<std::string> arguments = {"mpirun", "--quiet", "--allow-run-as-root", "--oversubscribe"};
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const int ranks = i + 1 < commands.size() ? 1 : size - static_cast<int>(i);
      arguments.insert(arguments.end(), {"-n", std::to_string(ranks), BuildFolder() + "/headlight"});
      arguments.insert(arguments.end(), commands[i].begin(), commands[i].end());
      if (i + 1 < commands.size()) arguments.emplace_back(":");
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      setpgid(0, 0);
      dup2(fileno(err_), 2);
      dup2(fileno(err_), 1);
      execvp("mpirun", argv.data());
      _exit(127);
    }
  }
  ~RankRun() {
    if (process_ > 0 && kill(process_, SIGTERM) == 0) AwaitProgram(process_);
    std::fclose(err_);
  }
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;

  pid_t process() const { return process_; }

  // Its output so far.
  std::string Printed() const {
    std::string text(std::size_t{1} << 20, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(fileno(err_), text.data(), text.size(), 0))));
    return text;
  }
  bool Await(const std::string& text) const {
    for (int turn = 0; turn < 3000; ++turn) {
      if (Printed().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // The process of a rank.
  pid_t ProcessOf(int rank) const {
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (TextOf(entry.path() / "cmdline").find(BuildFolder() + "/headlight") != 0) continue;
      const std::string rank_of = fmt::format("OMPI_COMM_WORLD_RANK={}", rank) + '\0';
      if (TextOf(entry.path() / "environ").find(rank_of) == std::string::npos) continue;
      // The parent's number stands second after the name, which is in parentheses.
      const std::string stat = TextOf(entry.path() / "stat");
      const std::size_t end = stat.rfind(')');
      if (end != std::string::npos && stat.substr(end + 4).starts_with(fmt::format("{} ", process_)))
        return std::stoi(name);
    }
    return -1;
  }
  int End() {
    const int code = AwaitProgram(process_);
    process_ = -1;
    return code;
  }

 private:
  std::FILE* err_;
  pid_t process_ = -1;
};

class MpiRanksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(BuildFolder() + "/headlight_mpi.so")) GTEST_SKIP() << "built without MPI";
    WriteSampledPairs(In("train.de"), In("train.en"), 300);
    WriteFile(In("valid.de"), "Der Hund schläft.\nDie Katze schläft.\nDer Hund schläft.\n");
    WriteFile(In("valid.en"), "The dog sleeps.\nThe cat sleeps.\nThe dog sleeps.\n");
  }

  std::string In(const std::string& name) const { return folder_.File(name); }

  // Five parts a step.
  std::vector<std::string> Command(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"train",
                                          "translation",
                                          "--train",
                                          In("train.de"),
                                          In("train.en"),
                                          "--valid",
                                          In("valid.de"),
                                          In("valid.en"),
                                          "--out",
                                          In(out),
                                          "--layers",
                                          "1",
                                          "--model-dim",
                                          "16",
                                          "--heads",
                                          "2",
                                          "--ffn-dim",
                                          "16",
                                          "--vocabulary-size",
                                          "300",
                                          "--warmup",
                                          "10",
                                          "--batch-tokens",
                                          "200",
                                          "--accumulation",
                                          "5",
                                          "--log-every",
                                          "1",
                                          "--validate-every",
                                          "4",
                                          "--threads",
                                          "1",
                                          "--average-last",
                                          "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  void ExpectSame(const std::string& a, const std::string& b) const {
    for (const char* file : {"model.safetensors", "last/model.safetensors", "source.spm"})
      EXPECT_TRUE(ReadFile(In(a + "/" + file)) == ReadFile(In(b + "/" + file))) << file << " of " << a << " and " << b;
  }

  TemporaryFolder folder_;
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
    EXPECT_THAT(run.Printed(), HasSubstr("the best model, of step"));
    const std::string printed = run.Printed();
    EXPECT_EQ(printed.find("the best model"), printed.rfind("the best model")) << "more than one rank tells";
  }
}

TEST_F(MpiRanksTest, AnyTaskTrainsTheSameModelInBfloat16Gradients) {
  const auto command = [&](const std::string& out) {
    return std::vector<std::string>{"train",           "language-model",
                                    "--train",         In("train.en"),
                                    "--valid",         In("valid.en"),
                                    "--tokenizer",     In("tokens"),
                                    "--out",           In(out),
                                    "--layers",        "1",
                                    "--model-dim",     "16",
                                    "--heads",         "2",
                                    "--positions",     "32",
                                    "--steps",         "4",
                                    "--batch-tokens",  "100",
                                    "--accumulation",  "3",
                                    "--threads",       "1",
                                    "--gradient-type", "bfloat16"};
  };
  fs::create_directory(In("tokens"));
  fs::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json",
           In("tokens/tokenizer.json"));
  MustRun(command("one"));
  RankRun run(2, {command("two")});
  ASSERT_EQ(run.End(), 0) << run.Printed();
  EXPECT_TRUE(ReadFile(In("one/model.safetensors")) == ReadFile(In("two/model.safetensors")));
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

TEST_F(MpiRanksTest, ACommandThatRanksDoNotShareIsRefused) {
  RankRun run(2, {{"info", In("nothing")}});
  EXPECT_EQ(run.End(), 2);
  EXPECT_THAT(run.Printed(), HasSubstr("headlight info does not run on several ranks; start it without mpirun"));
}

}  // namespace
}  // namespace headlight

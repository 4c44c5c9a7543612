// Runs the program on several ranks with mpirun, for tests.
#pragma once

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
#include "headlight/cli/program/testing.h"
#include "headlight/cli/train/sampled_pairs_testing.h"

namespace headlight {

namespace fs = std::filesystem;

// Returns the text of a /proc file, or "" if its process has ended. The reported size of such files is 0.
inline std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs several ranks with one thread each. Ranks may run different commands.
class RankRun {
 public:
  // `commands` has one command per rank. The last command is used for all further ranks. `launch` is the launcher with
  // its options.
  RankRun(int size, const std::vector<std::vector<std::string>>& commands,
          const std::vector<std::string>& launch = {"mpirun", "--oversubscribe"})
      : err_(std::tmpfile()) {
    static int runs = 0;
    mark_ = fmt::format("RANK_RUN_OF_TEST={}.{}", getpid(), ++runs);
    std::vector<std::string> arguments = launch;
    arguments.insert(arguments.end(), {"--quiet", "--allow-run-as-root", "-x", mark_});
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
      execvp(argv[0], argv.data());
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

  // Returns the output so far.
  std::string Printed() const {
    std::string text(std::size_t{1} << 20, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(fileno(err_), text.data(), text.size(), 0))));
    return text;
  }
  bool Await(const std::string& text) const {
    for (int i = 0; i < 3000; ++i) {
      if (Printed().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  pid_t ProcessOf(int rank) const {
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (TextOf(entry.path() / "cmdline").find(BuildFolder() + "/headlight") != 0) continue;
      const std::string environment = TextOf(entry.path() / "environ");
      if (environment.find(fmt::format("OMPI_COMM_WORLD_RANK={}", rank) + '\0') != std::string::npos &&
          environment.find(mark_ + '\0') != std::string::npos)
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
  std::string mark_;  // set in the environment of the ranks, to find their processes
  pid_t process_ = -1;
};

// Trains on several ranks in a temporary folder.
class RankTrainingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(BuildFolder() + "/headlight_mpi.so")) GTEST_SKIP() << "built without MPI";
    WriteSampledPairs(In("train.de"), In("train.en"), 300);
    WriteFile(In("valid.de"), "Der Hund schläft.\nDie Katze schläft.\nDer Hund schläft.\n");
    WriteFile(In("valid.en"), "The dog sleeps.\nThe cat sleeps.\nThe dog sleeps.\n");
  }

  std::string In(const std::string& name) const { return folder_.File(name); }

  // Returns the command line of a training run with five micro-batches per step.
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

}  // namespace headlight

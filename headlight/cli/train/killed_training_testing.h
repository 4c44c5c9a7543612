// Kills a training run at a chosen file change, for tests. Only one file of a test program may include this header,
// because it replaces the C library's functions that change files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/cli/program/testing.h"
#include "headlight/cli/train/sampled_pairs_testing.h"

namespace headlight {

// The number of file changes until a fork of the test is killed, counted down to 1. If 0, the fork is not killed.
inline std::atomic<int> changes_left{0};
inline pid_t immortal = 0;  // process id of the test

inline bool IsCopy() { return immortal != 0 && getpid() != immortal; }

// Returns true if this process must be killed at the current file change.
inline bool DiesAtThisChange() { return IsCopy() && changes_left > 0 && changes_left.fetch_sub(1) == 1; }

[[noreturn]] inline void Die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

}  // namespace headlight

extern "C" {

// Writes half of the bytes before the kill, so that a file may end in a torn line.
ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (descriptor > STDERR_FILENO && headlight::DiesAtThisChange()) {
    syscall(SYS_write, descriptor, bytes, size / 2);
    headlight::Die();
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (descriptor > STDERR_FILENO && headlight::DiesAtThisChange()) headlight::Die();
  return syscall(SYS_writev, descriptor, parts, count);
}

// Skips the sync in forks. Written data survives a kill without a sync.
int fsync(int descriptor) {
  if (headlight::DiesAtThisChange()) headlight::Die();
  return headlight::IsCopy() ? 0 : static_cast<int>(syscall(SYS_fsync, descriptor));
}

int rename(const char* from, const char* to) noexcept {
  if (headlight::DiesAtThisChange()) headlight::Die();
  return static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (headlight::DiesAtThisChange()) headlight::Die();
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int unlink(const char* path) noexcept {
  if (headlight::DiesAtThisChange()) headlight::Die();
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int remove(const char* path) noexcept {
  if (headlight::DiesAtThisChange()) headlight::Die();
  const long removed = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  return static_cast<int>(removed != 0 && errno == EISDIR ? syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR)
                                                          : removed);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (headlight::DiesAtThisChange()) headlight::Die();
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int link(const char* from, const char* to) noexcept {
  if (headlight::DiesAtThisChange()) headlight::Die();
  return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // extern "C"

namespace headlight {

// Trains a translator without interruption. Then, for every `stride`-th file change, kills the training during the
// change and resumes it. The resumed training must give the same files.
inline void KillAtChanges(int stride) {
  const TemporaryFolder folder;
  const auto in = [&](const std::string& name) { return folder.File(name); };
  WriteSampledPairs(in("train.de"), in("train.en"), 100);
  WriteFile(in("valid.de"), "Der Hund schläft.\nDie Katze schläft.\n");
  WriteFile(in("valid.en"), "The dog sleeps.\nThe cat sleeps.\n");
  std::vector<std::string> training = {"train",        "translation", "--train",      in("train.de"),
                                       in("train.en"), "--valid",     in("valid.de"), in("valid.en")};
  for (const char* option :
       {"--layers",       "1",   "--model-dim",      "8", "--heads",           "1",   "--ffn-dim", "8",
        "--steps",        "4",   "--validate-every", "2", "--vocabulary-size", "100", "--warmup",  "2",
        "--batch-tokens", "200", "--log-every",      "1", "--threads",         "1",   "--quiet"})
    training.emplace_back(option);
  const auto run = [&](const std::string& out, bool resumes) {
    std::vector<std::string> arguments = training;
    arguments.insert(arguments.end(), {"--out", in(out)});
    if (resumes) arguments.emplace_back("--resume");
    return RunProgram(arguments, "", "", Process::copy);
  };
  const auto files_of = [&](const std::string& out) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(in(out)))
      if (const std::string name = entry.path().lexically_relative(in(out));
          name.find("events.out.") == name.npos && name.find(".headlight-new-") == name.npos)
        names.insert(name);
    return names;
  };
  immortal = getpid();
  const Outcome whole = run("whole", false);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const std::set<std::string> whole_files = files_of("whole");
  int killed = 0;
  for (int change = 1;; change += stride) {
    changes_left = change;
    const Outcome outcome = run("out", false);
    changes_left = 0;
    if (outcome.exit_code == 0) break;
    ASSERT_EQ(outcome.exit_code, -SIGKILL) << outcome.err;
    ++killed;
    const Outcome resumed = run("out", true);
    ASSERT_EQ(resumed.exit_code, 0) << "killed at change " << change << ": " << resumed.err;
    EXPECT_EQ(files_of("out"), whole_files) << "killed at change " << change;
    for (const char* file : {"model.safetensors", "last/model.safetensors", "config.json", "vocab.json", "source.spm"})
      ASSERT_TRUE(ReadFile(in("out/") + file) == ReadFile(in("whole/") + file))
          << file << ", killed at change " << change;
    std::filesystem::remove_all(in("out"));
  }
  EXPECT_GT(killed * stride, 100);
}

}  // namespace headlight

// Runs the program in tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/cli/program/program.h"
#include "headlight/pipelines/testing.h"

namespace headlight {

// `program` runs the built program. `copy` runs a fork of the test, which starts five times faster. A fork of a test
// that has used several threads computes with one thread.
enum class Process { program, copy };

// Starts `headlight ARGUMENTS` with these file descriptors. Returns the process id.
inline pid_t StartProgram(const std::vector<std::string>& arguments, int in, int out, int err,
                          Process kind = Process::program) {
  const std::string path = BuildFolder() + "/headlight";
  std::vector<char*> argv = {const_cast<char*>("headlight")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);  // otherwise, the fork would print the buffered text again
  const pid_t process = fork();
  if (process == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
      if (kind == Process::copy) RunAndExit(arguments);
      execv(path.c_str(), argv.data());
    }
    _exit(127);
  }
  Ensure(process > 0, "cannot fork");
  return process;
}

// Waits until the process ends. Returns its exit code, or the negative number of the signal that killed it.
inline int AwaitProgram(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Outcome {
  int exit_code = 0;
  std::string out, err;
};

// Runs the program to its end. If `out_path` is not empty, standard output is written to this file and not returned.
inline Outcome RunProgram(const std::vector<std::string>& arguments, std::string_view input = "",
                          const std::string& out_path = "", Process kind = Process::program) {
  std::FILE* const in = std::tmpfile();
  std::FILE* const out = out_path.empty() ? std::tmpfile() : std::fopen(out_path.c_str(), "r+");
  std::FILE* const err = std::tmpfile();
  Ensure(in != nullptr && out != nullptr && err != nullptr, "cannot open temporary files");
  std::fwrite(input.data(), 1, input.size(), in);
  std::rewind(in);
  const auto text_of = [](std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    return text;
  };
  Outcome outcome;
  outcome.exit_code = AwaitProgram(StartProgram(arguments, fileno(in), fileno(out), fileno(err), kind));
  if (out_path.empty()) outcome.out = text_of(out);
  outcome.err = text_of(err);
  for (std::FILE* file : {in, out, err}) std::fclose(file);
  return outcome;
}

inline void MustRun(const std::vector<std::string>& arguments) {
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
}

// Runs a command that must fail with exit code 2, a one-line error message and no results. Returns the message.
inline std::string RefusalOf(const std::vector<std::string>& arguments, std::string_view input = "") {
  const Outcome outcome = RunProgram(arguments, input, "", Process::copy);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find('\n') + 1, outcome.err.size()) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("headlight: ")) << outcome.err;
  return outcome.err;
}

// Reads a line from a running program. Returns less than a line if the program ends or half a minute passes.
inline std::string ReadLine(int descriptor) {
  std::string line;
  while (!line.ends_with('\n')) {
    pollfd ready{descriptor, POLLIN, 0};
    char c = 0;
    if (poll(&ready, 1, 30'000) <= 0 || read(descriptor, &c, 1) != 1) break;
    line += c;
  }
  return line;
}

inline std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  EXPECT_EQ(text, "") << "the last line has no end";
  return lines;
}

// A test with a tiny model in a temporary folder.
struct ProgramTest : testing::Test {
  ProgramTest() : model(folder.File("model")) {
    std::filesystem::create_directory(model);
    SaveTinyModel(model);
  }
  std::string Write(const std::string& name, std::string_view text) const {
    WriteFile(folder.File(name), text);
    return folder.File(name);
  }

  TemporaryFolder folder;
  const std::string model;
};

}  // namespace headlight

// Runs the program on mutated files, and checks the outcome against rules.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/hash.h"
#include "headlight/base/random.h"
#include "headlight/cli/commands/file_kinds_testing.h"
#include "headlight/cli/commands/mutations_testing.h"
#include "headlight/cli/program/testing.h"

namespace headlight::file_kinds {

inline constexpr std::int64_t kMostMemory = std::int64_t{2} << 30;  // bytes, in addition to the memory of the test
inline constexpr std::chrono::seconds kMostTime{30};
inline constexpr int kTimedOut = 1000;  // not a valid exit code

// Runs a command in a fork of the test, with time and memory limits.
inline Outcome RunBounded(const Command& command, const std::string& input) {
  std::FILE* const in = std::tmpfile();
  std::FILE* const out = std::tmpfile();
  std::FILE* const err = std::tmpfile();
  Ensure(in != nullptr && out != nullptr && err != nullptr, "cannot open temporary files");
  std::fwrite(input.data(), 1, input.size(), in);
  std::rewind(in);
  long pages = 0;
  std::FILE* const memory = std::fopen("/proc/self/statm", "r");
  Ensure(memory != nullptr && std::fscanf(memory, "%ld", &pages) == 1, "cannot read /proc/self/statm");
  std::fclose(memory);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit bound = before;
  bound.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + kMostMemory);
  setrlimit(RLIMIT_AS, &bound);
  const pid_t process = StartProgram(command, fileno(in), fileno(out), fileno(err), Process::copy);
  setrlimit(RLIMIT_AS, &before);
  Outcome outcome;
  const auto until = std::chrono::steady_clock::now() + kMostTime;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      outcome.exit_code = kTimedOut;
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  if (outcome.exit_code != kTimedOut) outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  for (const auto& [file, text] : {std::pair(out, &outcome.out), std::pair(err, &outcome.err)}) {
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) *text += static_cast<char>(c);
  }
  for (std::FILE* file : {in, out, err}) std::fclose(file);
  return outcome;
}

// A sample of a kind of file, and a command that reads it.
class Sample {
 public:
  explicit Sample(const Kind& kind) : kind_(kind) {
    if (kind.make) kind.make(folder_);
    content_ = ReadFile(folder_.File(kind.file));
  }

  const std::string& path() const { return folder_.path(); }
  Outcome Run() { return RunOn(content_); }
  // Returns mutation `number`. The mutation depends only on the kind of file and the number.
  std::string Mutated(std::uint64_t number) const {
    Random random(HashOf(kind_.name), number);
    std::string mutated = mutations::Mutated(content_, kind_.form, random);
    const bool any = kind_.form == mutations::Form::binary || kind_.form == mutations::Form::text;
    if (any && mutations::Below(random, 3) == 0) mutated = mutations::Mutated(mutated, kind_.form, random);
    return mutated;
  }
  Outcome RunOn(const std::string& content) {
    if (!kind_.changes) {
      Write(folder_.File(kind_.file), content);
      return RunBounded(CommandIn(folder_.path()), kind_.input);
    }
    const TemporaryFolder copy;
    std::filesystem::copy(folder_.path(), copy.path(), std::filesystem::copy_options::recursive);
    Write(copy.File(kind_.file), content);
    place_ = copy.path();
    return RunBounded(CommandIn(copy.path()), kind_.input);
  }

  // Returns the rule that an outcome violates, or "". An error must name the mutated file. If the sample is a folder,
  // an error may name any of its files, because files may contradict each other.
  std::string Complaint(const Outcome& outcome) const {
    if (outcome.exit_code == kTimedOut) return "it does not end";
    if (outcome.exit_code == 0) {
      static const std::regex nan("(^|[^a-z])nan([^a-z]|$)", std::regex::icase);
      return std::regex_search(outcome.out, nan) ? "NaN with exit code 0" : "";
    }
    if (outcome.exit_code != 2) return fmt::format("exit code {}", outcome.exit_code);
    if (std::ranges::count(outcome.err, '\n') != 1 || !outcome.err.ends_with('\n')) return "not one line";
    if (!outcome.err.starts_with("headlight: ")) return "not an error";
    const std::string& location = place_.empty() ? folder_.path() : place_;
    const bool alone = kind_.file.find('/') == std::string::npos;
    const bool named = outcome.err.find(alone ? location + "/" + kind_.file : location + "/") != std::string::npos ||
                       (!kind_.input.empty() && outcome.err.find("standard input") != std::string::npos);
    return named ? "" : "it names no file";
  }

 private:
  static void Write(const std::string& path, const std::string& content) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");  // unlike WriteFile, does not flush to disk
    Ensure(file != nullptr && std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
               std::fclose(file) == 0,
           "cannot write {}", path);
  }
  Command CommandIn(const std::string& folder) const {
    Command command = kind_.command;
    for (std::string& argument : command)
      if (argument.starts_with('@')) argument = folder + "/" + argument.substr(1);
    command.emplace_back("--quiet");
    return command;
  }

  const Kind& kind_;
  TemporaryFolder folder_;
  std::string content_, place_;
};

}  // namespace headlight::file_kinds

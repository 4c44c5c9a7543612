#include "headlight/cli/program/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/commands/shard.h"
#include "headlight/cli/program/command_line.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/program/exit_code.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"
#include "headlight/kernels/cpu.h"

namespace headlight {
namespace {

constexpr const char* kConfigDescription = "Read options from this file, as lines such as: beam-size = 5";

// Adds the options that every command has. A group, such as `bench`, has only the help options. A group also prints its
// help if it is run without arguments.
void AddCommonOptions(Command& command) {
  const bool is_group = command.parent != nullptr && !command.commands.empty();
  const auto add_help = [&command, is_group](const char* names, HelpLevel level, const char* description) {
    const auto print = [&command, level] { WriteResult(HelpOf(command, level)); };
    command
        .AddFlag(
            names, [&command, print] { command.run = print; }, description)
        .Group(is_group ? "Options" : kGeneralOptions);
  };
  add_help("-h,--help", HelpLevel::brief, "Print a short help");
  add_help("--help-all", HelpLevel::all, "Print a help with all options");
  if (!command.commands.empty()) command.run = [&command] { WriteResult(HelpOf(command, HelpLevel::brief)); };
  for (const auto& one : command.commands) AddCommonOptions(*one);
  if (is_group) return;
  command
      .AddFunction(
          "--threads", [](const std::string& threads) { SetThreads(std::stoi(threads)); },
          "Threads to compute with [all processors]")
      .Check(Between(1, 4096))
      .Type("N")
      .Group(kGeneralOptions);
  command
      .AddFlag(
          "--quiet", [] { SetQuiet(true); }, "Print nothing but results and errors")
      .Group(kGeneralOptions);
  command
      .AddFunction(
          "--config", [](const std::string&) {}, kConfigDescription)
      .Type("FILE")
      .Group(kGeneralOptions);
}

void LimitCpu() {
  const char* const limit = std::getenv("HEADLIGHT_CPU");
  if (limit == nullptr) return;
  Check(kernels::LimitCpu(limit),
        "HEADLIGHT_CPU may be \"avx2\" or \"avx512\", to use no newer instructions, or \"avx-vnni\", to use these with "
        "AVX2, not \"{}\"",
        limit);
}

int Run(const std::vector<std::string>& arguments) {
  const std::unique_ptr<Command> program = MakeProgram();
  Command* command = program.get();
  try {
    LimitCpu();
    JoinRanks();
    command = &NamedCommand(*program, arguments);
    CheckRanks(*command);
    ParseOptions(*command, arguments);
    RewriteNotes([command](const std::string& note) { return NameFlags(*command, note); });
    int exit_code = 0;
    try {
      command->run();
    } catch (const EndedWith& end) {
      exit_code = end.exit_code;
    }
    GatherResults();
    FlushResults();
    LeaveRanks();
    return exit_code;
  } catch (const EndedBySignal& signal) {  // all ranks receive the signal
    LeaveRanks();
    return 128 + signal.signal;
  } catch (const OtherRankFailed&) {  // the failed rank reports the error and ends this rank
    sleep(2);
    AbortRanks(2);
  } catch (...) {
    const bool reports = ReportsFailure();
    const int exit_code = reports ? ExitCodeOf(*command, std::current_exception()) : 2;
    if (JoinedRanks() != nullptr) AbortRanks(exit_code);
    return exit_code;
  }
}

}  // namespace

std::unique_ptr<Command> MakeProgram() {
  auto program = std::make_unique<Command>("headlight", "headlight trains, runs and looks inside Transformers.");
  program->AddFlag(
      "--version", [&run = program->run] { run = [] { WriteResult("headlight " HEADLIGHT_VERSION "\n"); }; },
      "Print the version");
  AddCommandsOf("", *program);
  AddCommonOptions(*program);
  program->footer =
      "headlight COMMAND --help explains a command and gives examples. Names of models in the examples, such as gpt2, "
      "are folders, which `headlight pull` downloads and `headlight train` makes.\n\n"
      "Exit codes: 0 success; 1 an internal error, or a finding of `headlight check`; 2 a mistake in the "
      "command line, a file or a text, or "
      "too "
      "little memory or disk space; 128 + N ended by signal N, such as 130 for a training that Ctrl-C interrupted, "
      "after it is saved.";
  return program;
}

void CheckRanks(const Command& command) {
  Check(JoinedRanks() == nullptr || !command.commands.empty() || command.Find("--rank-timeout") != nullptr ||
            command.Find("--shard") != nullptr,
        "{} does not run on several ranks; start it without mpirun", FullName(command));
}

int ExitCodeOf(const Command& command, const std::exception_ptr& end) {
  constexpr int our_mistake = 1, users_mistake = 2;
  const auto refuse = [](int exit_code, std::string message) {
    std::ranges::replace_if(
        message, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    WriteNote("headlight: " + message);
    return exit_code;
  };
  try {
    std::rethrow_exception(end);
  } catch (const CommandLineError& error) {
    return refuse(users_mistake, error.what());
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) return refuse(our_mistake, error.what());
    return refuse(users_mistake, NameFlags(command, error.what()));
  } catch (const EndedBySignal& signal) {
    return 128 + signal.signal;
  } catch (const OutputClosed&) {
    return 128 + SIGPIPE;
  } catch (const std::bad_alloc&) {
    return refuse(users_mistake, "there is not enough memory for this");
  } catch (const std::filesystem::filesystem_error& error) {
    return refuse(users_mistake, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return refuse(our_mistake, error.what());
  }
}

void RunAndExit(const std::vector<std::string>& arguments) {
  // A closed pipe and an exceeded file size limit are reported as write errors instead of signals.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  const int exit_code = Run(arguments);
  // Standard output has been flushed. The process ends without static destruction, because threads that wait for input
  // may still run.
  std::fflush(stderr);
  std::_Exit(exit_code);
}

}  // namespace headlight

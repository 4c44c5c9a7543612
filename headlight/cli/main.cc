// headlight: trains, runs and looks inside Transformers.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/cli/output.h"
#include "headlight/cli/program.h"
#include "headlight/cli/training_run.h"
#include "headlight/kernels/cpu.h"

namespace headlight {
namespace {

constexpr int kOurMistake = 1, kUsersMistake = 2, kOutputClosed = 128 + SIGPIPE;  // the last as a shell reports it

// Prints the error as one line.
int Refuse(int exit_code, std::string message) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  WriteNote("headlight: " + message);
  return exit_code;
}

void LimitCpu() {
  const char* const limit = std::getenv("HEADLIGHT_CPU");
  if (limit == nullptr) return;
  Check(limit == std::string_view("avx2"), "HEADLIGHT_CPU may be \"avx2\", to use no newer instructions, not \"{}\"",
        limit);
  kernels::UseNoMoreThanAvx2();
}

int Run(int argc, char** argv) {
  const std::unique_ptr<CLI::App> program = MakeProgram();
  try {
    LimitCpu();
    CheckCommand(*program, argc, argv);
    try {
      program->parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      WriteResult(program->help());
    } catch (const CLI::CallForVersion& version) {
      WriteResult(std::string(version.what()) + "\n");
    }
    FlushResults();
    return 0;
  } catch (const CLI::ParseError& error) {
    return Refuse(kUsersMistake, MessageOf(*program, error));
  } catch (const Error& error) {
    if (error.blame() != Blame::user) return Refuse(kOurMistake, error.what());
    return Refuse(kUsersMistake, NameFlags(*program, error.what()));
  } catch (const EndedBySignal& end) {
    return 128 + end.signal;
  } catch (const OutputClosed&) {
    return kOutputClosed;
  } catch (const std::bad_alloc&) {
    return Refuse(kUsersMistake, "there is not enough memory for this");
  } catch (const std::exception& error) {
    return Refuse(kOurMistake, error.what());
  }
}

}  // namespace

}  // namespace headlight

int main(int argc, char** argv) {
  // A closed pipe and a file size limit are reported by the write that fails.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  const int exit_code = headlight::Run(argc, argv);
  // Standard output was flushed or failed. Threads that still wait for input must not run during static destruction.
  std::fflush(stderr);
  std::_Exit(exit_code);
}

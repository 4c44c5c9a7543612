// headlight: trains, runs and looks inside Transformers.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/command_line.h"
#include "headlight/cli/mpi_ranks.h"
#include "headlight/cli/output.h"
#include "headlight/cli/program.h"
#include "headlight/cli/shard.h"
#include "headlight/cli/training_run.h"
#include "headlight/kernels/cpu.h"

namespace headlight {
namespace {

void LimitCpu() {
  const char* const limit = std::getenv("HEADLIGHT_CPU");
  if (limit == nullptr) return;
  if (limit == std::string_view("avx512")) return kernels::UseNoAmx();
  const bool but_avx_vnni = limit == std::string_view("avx-vnni");
  Check(
      but_avx_vnni || limit == std::string_view("avx2"),
      "HEADLIGHT_CPU may be \"avx2\" or \"avx512\", to use no newer instructions, or \"avx-vnni\", to use these beside "
      "AVX2, not \"{}\"",
      limit);
  kernels::UseNoMoreThanAvx2(but_avx_vnni);
}

int Run(int argc, char** argv) {
  const std::unique_ptr<Command> program = MakeProgram();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Command* command = program.get();
  try {
    LimitCpu();
    JoinRanks();
    command = &NamedCommand(*program, arguments);
    CheckRanks(*command);
    ParseOptions(*command, arguments);
    command->run();
    GatherResults();
    FlushResults();
    LeaveRanks();
    return 0;
  } catch (const EndedBySignal& signal) {  // on all ranks
    LeaveRanks();
    return 128 + signal.signal;
  } catch (const OtherRankFailed&) {  // which reports it, and ends this one
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

}  // namespace headlight

int main(int argc, char** argv) {
  // A closed pipe and a file size limit are reported by the write that fails.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  const int exit_code = headlight::Run(argc, argv);
  // Standard output was flushed or failed. Threads that still wait for input must not run during static destruction.
  std::fflush(stderr);
  std::_Exit(exit_code);
}

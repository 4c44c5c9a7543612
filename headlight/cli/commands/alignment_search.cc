#include "headlight/cli/commands/alignment_search.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/base/scratch_folder.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

enum class Engine { mmseqs, hhblits };

Engine EngineOf(const std::string& database) {
  if (Exists(database + ".dbtype")) return Engine::mmseqs;
  if (Exists(database + "_cs219.ffindex")) return Engine::hhblits;
  Fail("{}: is no database of mmseqs2 (there is no {}.dbtype) or of HHblits (there is no {}_cs219.ffindex)", database,
       database, database);
}

const char* ProgramOf(Engine engine) { return engine == Engine::mmseqs ? "mmseqs" : "hhblits"; }

bool Installed(const char* program) {
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (access(fmt::format("{}/{}", folder.empty() ? "." : folder, program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string LastLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "it printed nothing";
  const std::size_t begin = text.find_last_of("\n\r", end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// Runs a program to its end. Its output is written to the file `log`, not to standard output.
void RunProgram(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int failure = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  Check(failure == 0, "{}: cannot be started: {}", command[0], std::strerror(failure));
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    Check(errno == EINTR, "{}: cannot be waited for: {}", command[0], std::strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFEXITED(status) ? fmt::format("with exit code {}", WEXITSTATUS(status))
                                            : fmt::format("by signal {}", WTERMSIG(status));
  Fail("{} {}: ended {}: {}", command[0], command[1], how, Quoted(LastLine(ReadFile(log))));
}

}  // namespace

void CheckSearchDatabase(const std::string& database) {
  const char* const program = ProgramOf(EngineOf(database));
  Check(Installed(program), "{}: needs the program {}, which is not installed (Debian: apt install {})", database,
        program, std::string_view(program) == "mmseqs" ? "mmseqs2" : "hhsuite");
}

void SearchAlignment(const std::string& database, const std::string& letters, const std::string& path) {
  const ScratchFolder scratch;
  const auto file = [&](const char* name) { return scratch.File(name); };
  const std::string threads = std::to_string(Threads());
  WriteFile(file("query.fasta"), ">query\n" + letters + "\n");
  if (EngineOf(database) == Engine::hhblits) {
    RunProgram({"hhblits",
                "-i",
                file("query.fasta"),
                "-d",
                database,
                "-oa3m",
                file("found.a3m"),
                "-o",
                "/dev/null",
                "-cpu",
                threads,
                "-n",
                "3",
                "-e",
                "0.001",
                "-maxseq",
                "1000000",
                "-realign_max",
                "100000",
                "-maxfilt",
                "100000",
                "-min_prefilter_hits",
                "1000"},
               file("log"));
  } else {
    RunProgram({"mmseqs", "createdb", file("query.fasta"), file("query")}, file("log"));
    RunProgram({"mmseqs", "search", file("query"), database, file("hits"), file("work"), "--num-iterations", "3", "-s",
                "8", "-e", "0.1", "-a", "--max-seqs", "10000", "--threads", threads},
               file("log"));
    // Format 6 is A3M with the headers of the hits.
    RunProgram({"mmseqs", "result2msa", file("query"), database, file("hits"), file("alignment"), "--msa-format-mode",
                "6", "--threads", "1"},
               file("log"));
    // MMseqs2 databases end each entry with a zero byte.
    std::string text = ReadFile(file("alignment"));
    std::erase(text, '\0');
    WriteFile(file("found.a3m"), text);
  }
  WriteFile(path, ReadFile(file("found.a3m")));
}

}  // namespace headlight

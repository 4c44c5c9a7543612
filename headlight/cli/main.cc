// headlight: trains, runs and looks inside Transformers.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <istream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/training_run.h"
#include "headlight/kernels/cpu.h"

namespace headlight {
namespace {

constexpr int kOurMistake = 1, kUsersMistake = 2, kOutputClosed = 128 + SIGPIPE;  // the last as a shell reports it

// The options that every command has; a group, such as `bench`, needs one of its commands instead.
void AddCommonOptions(CLI::App& command) {
  command.fallthrough();  // for --config
  const std::vector<CLI::App*> commands = command.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* one : commands) AddCommonOptions(*one);
  if (!commands.empty()) return static_cast<void>(command.require_subcommand(1));
  command.add_option_function<int>("--threads", SetThreads, "Threads to compute with [all processors]")
      ->check(Between(1, 4096))
      ->type_name("N");
  command.add_flag_callback(
      "--quiet", [] { SetQuiet(true); }, "Print nothing but results and errors");
}

// CLI11 expects a section for each command; here the file's options are those of the command that is run.
class OptionsFile : public CLI::ConfigTOML {
 public:
  explicit OptionsFile(const CLI::App& program) : program_(program) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<std::string> path;
    const CLI::App* command = &program_;
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
      path.push_back(command->get_name());
    }
    std::vector<CLI::ConfigItem> of_command;
    for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(input)) {
      Check(item.parents.empty() && item.name != "++", "the options file has a section, and may have none");
      const CLI::Option* option = command->get_option_no_throw("--" + item.name);
      Check(option != nullptr && item.name != "help", "the options file has \"{}\", which is no option of {}",
            item.name, command->get_name());
      item.parents = path;
      of_command.push_back(std::move(item));
    }
    return of_command;
  }

 private:
  const CLI::App& program_;
};

// Names an unknown command and those that there are; CLI11 would only say that a command is required.
void CheckCommand(const CLI::App& program, int argc, char** argv) {
  const std::string name = argc < 2 ? "" : argv[1];
  if (name.starts_with('-')) return;
  std::string commands;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return;
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  }
  Check(!name.empty(), "a command is needed: {}", commands);
  Fail("there is no command \"{}\"; there are: {}", name, commands);
}

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
  CLI::App program("headlight trains, runs and looks inside Transformers.", "headlight");
  program.set_version_flag("--version", "headlight " HEADLIGHT_VERSION);
  program.set_config("--config", "", "Options from a file, as lines such as: beam-size = 5")->type_name("FILE");
  program.config_formatter(std::make_shared<OptionsFile>(program));
  AddCommandsOf("", program);
  AddCommonOptions(program);
  program.footer("\nheadlight COMMAND --help explains a command and gives examples.\n");
  try {
    LimitCpu();
    CheckCommand(program, argc, argv);
    try {
      program.parse(argc, argv);
    } catch (const CLI::Success& asked) {
      program.exit(asked);  // prints the help or the version
    }
    FlushResults();
    return 0;
  } catch (const CLI::ValidationError& error) {
    std::string message = error.what();  // CLI11 puts "NAME: " before what a check says
    if (const std::size_t rule = message.find(": must "); rule != std::string::npos) message.erase(rule, 1);
    return Refuse(kUsersMistake, message);
  } catch (const CLI::ParseError& error) {
    return Refuse(kUsersMistake, std::string(error.what()) + " (--help explains)");
  } catch (const Error& error) {
    return Refuse(error.blame() == Blame::user ? kUsersMistake : kOurMistake, error.what());
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

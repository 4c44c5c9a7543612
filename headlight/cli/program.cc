#include "headlight/cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/command_tree.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/mpi_ranks.h"
#include "headlight/cli/options_file.h"
#include "headlight/cli/output.h"
#include "headlight/cli/training_run.h"

namespace headlight {
namespace {

// The options that every command has; a group, such as `bench`, needs one of its commands instead.
void AddCommonOptions(CLI::App& command) {
  command.fallthrough();  // for --config
  command.get_help_ptr()->group(kCommonOptions);
  const std::vector<CLI::App*> commands = command.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* one : commands) AddCommonOptions(*one);
  if (!commands.empty()) return static_cast<void>(command.require_subcommand(1));
  command.add_option_function<int>("--threads", SetThreads, "Threads to compute with [all processors]")
      ->check(Between(1, 4096))
      ->type_name("N")
      ->group(kCommonOptions);
  command
      .add_flag_callback(
          "--quiet", [] { SetQuiet(true); }, "Print nothing but results and errors")
      ->group(kCommonOptions);
  for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_expected_max() <= 1)  // of two values CLI11 would then take one alone, too
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (option->get_expected_max() == 0) option->disable_flag_override();
  }
}

// The command that was given; of `headlight train` that one.
const CLI::App& GivenCommand(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string UnknownOption(const CLI::App& command, std::string name) {
  name.erase(std::min(name.find('='), name.size()));
  std::vector<std::string> known;
  for (const OptionGroup& group : OptionGroupsOf(command))
    for (const CLI::Option* option : group.options)
      for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  const std::string meant = Nearest(name, known), of = FullName(command);
  if (meant == name) return fmt::format("{} must follow the command", name);
  return meant.empty() ? fmt::format("{} has no option {}; {} --help lists them", of, name, of)
                       : fmt::format("{} has no option {}; did you mean {}?", of, name, meant);
}

// Of the command, or of the program.
const CLI::Option* FindOption(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = nullptr;
  for (const CLI::App* one = &command; one != nullptr && option == nullptr; one = one->get_parent())
    option = one->get_option_no_throw(name);
  return option;
}

// CLI11's messages begin with the option's name, as "--beam-size: 1 required N missing" or "--top requires --search".
std::string FirstName(const std::string& message) { return message.substr(0, message.find_first_of(": ")); }
std::string LastName(const std::string& message) { return message.substr(message.rfind(' ') + 1); }

// Refuses an unknown option before its value is taken for an argument.
void CheckOptions(const CLI::App& command, std::span<const char* const> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") return;
    const std::string name(argument.substr(0, argument.find('=')));
    Check(!argument.starts_with("--") || FindOption(command, name) != nullptr, "{}", UnknownOption(command, name));
  }
}

}  // namespace

std::unique_ptr<CLI::App> MakeProgram() {
  auto program = std::make_unique<CLI::App>("headlight trains, runs and looks inside Transformers.", "headlight");
  program->formatter(std::make_shared<HelpFormatter>());
  program->set_help_flag("-h,--help", "Print this help");
  program->set_version_flag("--version", "headlight " HEADLIGHT_VERSION, "Print the version");
  program->set_config("--config", "", "Read options from this file, as lines such as: beam-size = 5")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  program->config_formatter(std::make_shared<OptionsFile>(*program));
  AddCommandsOf("", *program);
  AddCommonOptions(*program);
  program->footer(
      "headlight help COMMAND, or headlight COMMAND --help, explains a command and gives examples.\n\n"
      "Exit codes: 0 success; 1 a fault of headlight itself; 2 a mistake in the command line, a file or a text, or "
      "too\n"
      "little memory or disk space; 128 + N ended by signal N, such as 130 for a training that Ctrl-C interrupted, "
      "after it is saved.");
  return program;
}

void CheckCommand(const CLI::App& program, int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--config") ++i;
    if (argument == "--config" || argument.starts_with("--config=")) continue;
    if (argument.starts_with('-')) return;
    names.emplace_back(argument);
    const CLI::App& command = FindCommand(program, names);
    if (!CommandsOf(command).empty()) continue;
    Check(JoinedRanks() == nullptr || command.get_option_no_throw("--rank-timeout") != nullptr ||
              command.get_option_no_throw("--shard") != nullptr,
          "{} does not run on several ranks; start it without mpirun", FullName(command));
    return CheckOptions(command, {argv + i + 1, argv + argc});
  }
  const CLI::App& group = FindCommand(program, names);
  std::string commands;
  for (const CLI::App* command : CommandsOf(group)) commands += (commands.empty() ? "" : ", ") + command->get_name();
  Fail("{} needs a command: {}", FullName(group), commands);
}

std::string MessageOf(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = GivenCommand(program);
  const std::string of = FullName(command), message = error.what(), name = FirstName(message);
  for (const std::string& extra : program.remaining(/*recurse=*/true))
    if (extra.size() > 1 && extra[0] == '-' && extra != "--") return UnknownOption(command, extra);
  const auto file = std::dynamic_pointer_cast<const OptionsFile>(program.get_config_formatter());
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    std::string rule = message;
    if (const std::size_t must = rule.find(": must "); must != std::string::npos) rule.erase(must, 1);
    return file->PlaceOf(name) + rule;
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const CLI::Option* const missing = FindOption(command, name);
    if (missing == nullptr) return message;
    return fmt::format("{} needs {} ({}); usage: {}", of, name, missing->get_description(), UsageOf(command));
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return fmt::format("{} needs {}", name, LastName(message));
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return fmt::format("{} cannot be given with {}", name, LastName(message));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const CLI::Option* const option = FindOption(command, name);
    if (option == nullptr || option->get_expected_max() == 0)
      return fmt::format("{}{} takes no value", name.starts_with('-') ? "" : "--", name);
    return fmt::format("{} needs {}: {}", name, option->get_expected_min() > 1 ? "two values" : "a value",
                       option->get_type_name());
  }
  if (dynamic_cast<const CLI::FileError*>(&error) != nullptr)
    return fmt::format("--config {}: there is no file to read", program.get_config_ptr()->as<std::string>());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return fmt::format("{}: unexpected argument {}; usage: {}", of, program.remaining(true).front(), UsageOf(command));
  return message;
}

int ExitCodeOf(const CLI::App& program, const std::exception_ptr& end) {
  constexpr int our_mistake = 1, users_mistake = 2;
  const auto refuse = [](int exit_code, std::string message) {
    std::ranges::replace_if(
        message, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    WriteNote("headlight: " + message);
    return exit_code;
  };
  try {
    std::rethrow_exception(end);
  } catch (const CLI::ParseError& error) {
    return refuse(users_mistake, MessageOf(program, error));
  } catch (const Error& error) {
    if (error.blame() != Blame::user) return refuse(our_mistake, error.what());
    return refuse(users_mistake, NameFlags(program, error.what()));
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

std::string NameFlags(const CLI::App& program, const std::string& message) {
  if (message.find(".json") != std::string::npos) return message;  // it may speak of a file's keys
  const CLI::App& command = GivenCommand(program);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  constexpr std::string_view kOption = "the option ";
  std::string named;
  for (auto begin = message.begin(); begin != message.end();) {
    const auto end = std::find_if_not(begin, message.end(), is_word);
    std::string word(begin, end);
    const bool is_option = named.ends_with(kOption);
    if (is_option || word.find('_') != std::string::npos ||
        (named.empty() && std::string_view(end, message.end()).starts_with(" is"))) {
      std::string flag = "--" + word;
      std::ranges::replace(flag, '_', '-');
      if (command.get_option_no_throw(flag) != nullptr) {
        if (is_option) named.resize(named.size() - kOption.size());
        word = flag;
      }
    }
    named += word;
    begin = end;
    if (begin != message.end()) named += *begin++;
  }
  return named;
}

}  // namespace headlight

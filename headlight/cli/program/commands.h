// Declares functions that all commands share. A command is a source file without a header. NAME.cc defines
// headlight::NAME::Add, which adds the command to the program. bench_NAME.cc and train_NAME.cc add subcommands of
// `bench` and `train`. Names that only one file uses are in the file's namespace, so that commands can be compiled
// together. If NAME is a C++ keyword or another namespace, the file is called NAME_command.cc. program.cc adds the
// options that every command has. cmake/commands.cmake finds the files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/option_checks.h"
#include "headlight/base/option_table.h"

namespace headlight {

/// The program, one of its commands, or a group of commands, such as `train`.
struct Command : OptionTable {
  Command(std::string its_name, std::string its_description, Command* its_parent = nullptr)
      : name(std::move(its_name)), description(std::move(its_description)), parent(its_parent) {}

  std::string name, description;
  std::string footer;  // explanations and examples at the end of the help
  Command* parent;
  std::function<void()> run;
  std::vector<std::unique_ptr<Command>> commands;

  Command& AddCommand(std::string its_name, std::string its_description) {
    commands.push_back(std::make_unique<Command>(std::move(its_name), std::move(its_description), this));
    return *commands.back();
  }
};

/// Adds the program's commands, or the commands of `group` if it is not empty.
void AddCommandsOf(std::string_view group, Command& parent);

template <typename Options>
struct NewCommandResult {
  Command& command;
  Options& options;
};

/// Adds a command that calls run(options). The options are initialized with Options() and exist as long as the program.
template <typename Options>
NewCommandResult<Options> NewCommand(Command& parent, std::string name, std::string description,
                                     void (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  Command& command = parent.AddCommand(std::move(name), std::move(description));
  command.run = [options, run] { run(*options); };
  return {command, *options};
}

/// Adds the required argument DIR, the folder of a model.
inline Option& AddFolder(OptionTable& table, std::string& folder, std::string description) {
  return table.Add("DIR", folder, std::move(description)).Required().Model();
}

}  // namespace headlight

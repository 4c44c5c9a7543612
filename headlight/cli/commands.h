// Shared by the commands of the program. A command is a file of this folder without a header: NAME.cc defines
// AddName, which adds it to the program, bench_NAME.cc and train_NAME.cc add to `bench` and `train`. Its options
// follow; those that every command has are added by main.cc. cmake/commands.cmake finds the files.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace headlight {

// Adds the program's commands, or where `group` is not empty those of that command.
void AddCommandsOf(std::string_view group, CLI::App& parent);

template <typename Options>
struct Command {
  CLI::App& command;
  Options& options;
};

// A command that calls run(options), which begin as Options() and live as long as the program.
template <typename Options>
Command<Options> NewCommand(CLI::App& parent, const std::string& name, const std::string& description,
                            void (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *parent.add_subcommand(name, description);
  command.callback([options, run] { run(*options); });
  return {command, *options};
}

}  // namespace headlight

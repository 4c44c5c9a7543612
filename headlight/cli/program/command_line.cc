#include "headlight/cli/program/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "headlight/base/file.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/program/names.h"
#include "headlight/cli/program/options_file.h"
#include "headlight/cli/terminal/output.h"

namespace headlight {
namespace {

// Returns true for options that must be added with dedicated functions of CLI11.
bool IsSpecial(const Option& option) {
  return option.name() == "-h" || option.name() == "--help-all" || option.name() == "--version" ||
         option.name() == "--config";
}

std::string JoinedNames(const Option& option) {
  std::string names;
  for (const std::string& name : option.names()) names += (names.empty() ? "" : ",") + name;
  return names;
}

CLI::Option* AddOption(CLI::App& app, Option& option) {
  if (option.is_flag()) {
    return app.add_flag_callback(JoinedNames(option), [&option] { option.Give({}); })
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->disable_flag_override();
  }
  const auto give = [&option](const CLI::results_t& values) {
    option.Give(values);
    return true;
  };
  CLI::Option* const added = app.add_option(JoinedNames(option), give);
  if (option.takes_many())
    added->expected(CLI::detail::expected_max_vector_size);
  else
    added->expected(option.most_values());
  if (option.most_values() == 1)  // with TakeLast, CLI11 would accept one value for an option with two values
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (option.one_at_a_time()) added->allow_extra_args(false);
  if (option.delimiter() != '\0') added->delimiter(option.delimiter());
  if (option.required()) added->required();
  if (option.is_model()) added->transform(ModelFolderOf);  // runs before the checks
  for (const OptionCheck& check : option.checks()) added->check(check);
  return added;
}

void AddOptions(CLI::App& app, const Command& command) {
  app.fallthrough();  // lets commands inherit --config
  app.set_help_flag("-h,--help");
  app.set_help_all_flag("--help-all");
  std::map<const Option*, CLI::Option*> added;
  for (const auto& option : command.options())
    if (!IsSpecial(*option)) added[option.get()] = AddOption(app, *option);
  for (const auto& [option, cli_option] : added) {
    for (const Option* other : option->excluded()) cli_option->excludes(added.at(other));
    for (const Option* other : option->needed()) cli_option->needs(added.at(other));
  }
}

class ConfigFile : public CLI::Config {
 public:
  ConfigFile(const CLI::App& app, const Command& command) : app_(app), command_(command) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const CLI::App* app = &app_;
    std::vector<std::string> path;
    while (!app->get_subcommands().empty()) {
      app = app->get_subcommands().front();
      path.push_back(app->get_name());
    }
    const std::string file = app_.get_config_ptr()->as<std::string>();
    SetOptionsFile(file);
    std::vector<CLI::ConfigItem> given;
    for (OptionLine& line : ReadOptionsFile(input, file, command_)) {
      const CLI::Option* option = app->get_option_no_throw(line.option);
      if (option == nullptr || !option->empty()) continue;  // the command line takes precedence
      places_.insert_or_assign(option->get_name(), line.location + ": ");
      CLI::ConfigItem item;
      item.parents = path;
      item.name = line.option.substr(2);
      item.inputs = std::move(line.values);
      given.push_back(std::move(item));
    }
    return given;
  }
  // Returns the value of a flag, which is empty as on the command line.
  std::string to_flag(const CLI::ConfigItem& /*item*/) const override { return ""; }
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return ""; }

  // Returns "FILE: line 3: " if the option was set by the file of --config, or "" otherwise.
  std::string PlaceOf(const std::string& option) const {
    const auto place = places_.find(option);
    return place == places_.end() ? "" : place->second;
  }

 private:
  const CLI::App& app_;
  const Command& command_;
  mutable std::map<std::string, std::string> places_;
};

std::string UnknownOption(const Command& command, std::string name) {
  name.erase(std::min(name.find('='), name.size()));
  const std::vector<std::string> known = LongNamesOf(command);
  if (std::ranges::find(known, name) != known.end()) return fmt::format("{} must follow the command", name);
  const std::string of = FullName(command), advice = Advice(name, known);
  return fmt::format("{} has no option {}{}", of, name,
                     advice.empty() ? fmt::format("; {} --help lists them", of) : advice);
}

// Finds an option of the command or of the program. Returns null if it does not exist.
const Option* FindOption(const Command& command, const std::string& name) {
  const Option* option = nullptr;
  for (const Command* one = &command; one != nullptr && option == nullptr; one = one->parent) option = one->Find(name);
  return option;
}

// Return option names from CLI11's messages, such as "--beam-size: 1 required N missing" or "--top requires --search".
std::string FirstName(const std::string& message) { return message.substr(0, message.find_first_of(": ")); }
std::string LastName(const std::string& message) { return message.substr(message.rfind(' ') + 1); }

std::string MessageOf(const CLI::App& app, const Command& command, const ConfigFile& file,
                      const CLI::ParseError& error) {
  const std::string of = FullName(command), message = error.what(), name = FirstName(message);
  for (const std::string& extra : app.remaining(/*recurse=*/true))
    if (extra.size() > 1 && extra[0] == '-' && extra != "--") return UnknownOption(command, extra);
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    std::string rule = message;
    if (const std::size_t must = rule.find(": must "); must != std::string::npos) rule.erase(must, 1);
    return file.PlaceOf(name) + rule;
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const Option* const missing = FindOption(command, name);
    if (missing == nullptr) return message;
    const std::string value = missing->is_argument() ? "" : " " + missing->type();
    return fmt::format("{} needs {}{} ({}); usage: {}", of, name, value, missing->description(), UsageOf(command));
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return fmt::format("{} needs {}", name, LastName(message));
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return fmt::format("{} cannot be given with {}", name, LastName(message));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const Option* const option = FindOption(command, name);
    if (option == nullptr || option->is_flag())
      return fmt::format("{}{} takes no value", name.starts_with('-') ? "" : "--", name);
    return fmt::format("{} needs {}: {}", name, option->least_values() > 1 ? "two values" : "a value", option->type());
  }
  if (dynamic_cast<const CLI::FileError*>(&error) != nullptr)
    return fmt::format("--config {}: there is no file to read", app.get_config_ptr()->as<std::string>());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return fmt::format("{}: unexpected argument {}; usage: {}", of, app.remaining(true).front(), UsageOf(command));
  return message;
}

// Throws CommandLineError for unknown options. CLI11 would parse their values as arguments.
void CheckOptions(const Command& command, std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    const std::string name = CanonicalName(command, argument.substr(0, argument.find('=')));
    if (argument.starts_with("--") && FindOption(command, name) == nullptr)
      throw CommandLineError(UnknownOption(command, name));
  }
}

}  // namespace

Command& NamedCommand(Command& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string option = argument.substr(0, argument.find('='));
    // These options may precede the command.
    if (option == "--config" || option == "--threads" || option == "--quiet") {
      if (option == argument && option != "--quiet") ++i;
      continue;
    }
    if (argument.starts_with('-')) return FindCommand(program, names);
    names.push_back(argument);
    Command& command = FindCommand(program, names);
    if (!command.commands.empty()) continue;
    CheckOptions(command, std::span(arguments).subspan(i + 1));
    return command;
  }
  Command& group = FindCommand(program, names);
  if (names.size() == arguments.size()) return group;  // a group without further arguments prints its overview
  std::string commands;
  for (const Command* command : CommandsOf(group)) commands += (commands.empty() ? "" : ", ") + command->name;
  Fail("{} needs a command: {}", FullName(group), commands);
}

void ParseOptions(Command& command, std::vector<std::string> arguments) {
  std::vector<Command*> path = {&command};
  while (path.front()->parent != nullptr) path.insert(path.begin(), path.front()->parent);
  CLI::App app("", path.front()->name);
  AddOptions(app, *path.front());
  app.set_version_flag("--version", "");
  app.set_config("--config")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  const auto file = std::make_shared<ConfigFile>(app, command);
  app.config_formatter(file);
  CLI::App* last = &app;
  for (const Command* one : std::span(path).subspan(1)) {
    last->require_subcommand(1);
    last = last->add_subcommand(one->name);
    AddOptions(*last, *one);
  }
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const std::size_t end = std::min(argument.find('='), argument.size());
    argument = CanonicalName(command, argument.substr(0, end)) + argument.substr(end);
  }
  std::ranges::reverse(arguments);  // CLI11 parses the vector from its end
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    command.Get("--help").Give({});
  } catch (const CLI::CallForAllHelp&) {
    command.Get("--help-all").Give({});
  } catch (const CLI::CallForVersion&) {
    path.front()->Get("--version").Give({});
  } catch (const CLI::RequiredError& error) {
    throw MissingOption(MessageOf(app, command, *file, error));
  } catch (const CLI::ParseError& error) {
    throw CommandLineError(MessageOf(app, command, *file, error));
  }
}

}  // namespace headlight

#include "headlight/cli/options_file.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

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

}  // namespace

void AddOptionsFile(CLI::App& program) {
  program.set_config("--config", "", "Options from a file, as lines such as: beam-size = 5")->type_name("FILE");
  program.config_formatter(std::make_shared<OptionsFile>(program));
}

}  // namespace headlight

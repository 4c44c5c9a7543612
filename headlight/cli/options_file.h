// The file of --config: lines such as `beam-size = 5`, of options of the command that is run.
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <map>
#include <string>
#include <vector>

namespace headlight {

class OptionsFile : public CLI::Config {
 public:
  explicit OptionsFile(const CLI::App& program) : program_(program) {}

  // Throws Error naming the file and the line.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;
  std::string to_flag(const CLI::ConfigItem& /*item*/) const override { return ""; }  // as on the command line
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return ""; }

  // "FILE: line 3: " for an option, by its name with dashes, whose value is the file's; else nothing.
  std::string PlaceOf(const std::string& option) const;

 private:
  const CLI::App& program_;
  mutable std::map<std::string, std::string> places_;
};

}  // namespace headlight

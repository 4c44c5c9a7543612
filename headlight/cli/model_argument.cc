#include "headlight/cli/model_argument.h"

#include "headlight/cli/checks.h"
#include "headlight/io/model_folder.h"

namespace headlight {

CLI::Option* AddModel(CLI::App& command, std::string& path, const std::string& description) {
  const auto check = [folder = Folder()](std::string& given) { return IsNpz(given) ? "" : folder(given); };
  return command.add_option("DIR", path, description)->required()->check(CLI::Validator(check, ""));
}

}  // namespace headlight

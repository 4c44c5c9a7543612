#include "headlight/cli/commands/model_argument.h"

#include "headlight/base/option_checks.h"
#include "headlight/io/model_folder.h"

namespace headlight {

Option& AddModel(OptionTable& command, std::string& path, const std::string& description) {
  const auto check = [folder = ExistingFolder()](const std::string& given) {
    return IsNpz(given) ? std::string() : folder(given);
  };
  return command.Add("DIR", path, description).Required().Check(check);
}

}  // namespace headlight

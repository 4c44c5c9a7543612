#include "headlight/cli/commands/model_argument.h"

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/commands/hub_environment.h"
#include "headlight/hub/cache.h"
#include "headlight/hub/repository.h"
#include "headlight/io/model_folder.h"

namespace headlight {

Option& AddModel(OptionTable& command, std::string& path, const std::string& description) {
  const auto check = [model = ExistingModel()](const std::string& given) {
    return IsNpz(given) ? std::string() : model(given);
  };
  return command.Add("DIR", path, description).Required().Model(check);
}

std::string ModelFolderOf(const std::string& given) {
  if (given.empty() || IsNpz(given) || Exists(given)) return given;
  const bool is_name = IsModelName(given);
  if (const std::string cache = CacheOfEnvironment(); is_name && !cache.empty())
    if (std::string folder = CachedFolder(cache, given); !folder.empty()) return folder;
  if (is_name)
    Fail("{}: no such folder, and no such model in the cache; `headlight pull {}` downloads a model", given, given);
  Fail("{}: no such folder; a model is a folder or a GGUF file, and `headlight pull ORG/NAME` downloads one", given);
}

}  // namespace headlight

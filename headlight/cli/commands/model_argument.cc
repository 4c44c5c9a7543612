#include "headlight/cli/commands/model_argument.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/commands/hub_environment.h"
#include "headlight/hub/cache.h"
#include "headlight/hub/repository.h"
#include "headlight/io/model_folder.h"

namespace headlight {
namespace {

// Returns the GGUF file of a folder without config.json, or the first file of a split model. Returns the folder if it
// has no GGUF file.
std::string GgufOf(const std::string& folder) {
  std::error_code failed;
  if (std::filesystem::exists(folder + "/config.json", failed)) return folder;
  const std::regex further(".*-[0-9]{5}-of-[0-9]{5}[.]gguf"), first(".*-00001-of-[0-9]{5}[.]gguf");
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(".gguf") && (!std::regex_match(name, further) || std::regex_match(name, first)))
      names.push_back(std::move(name));
  }
  if (names.empty()) return folder;
  std::ranges::sort(names);
  Check(names.size() == 1, "{}: it has several GGUF files, of which one must be named: {}", folder,
        fmt::join(names, ", "));
  return folder + "/" + names.front();
}

}  // namespace

Option& AddModel(OptionTable& command, std::string& path, const std::string& description) {
  const auto check = [model = ExistingModel()](const std::string& given) {
    return IsNpz(given) ? std::string() : model(given);
  };
  return command.Add("DIR", path, description).Required().Model(check);
}

std::string ModelFolderOf(const std::string& given) {
  if (given.empty()) return given;
  if (Exists(given)) return IsNpz(given) ? given : GgufOf(given);
  const bool is_name = IsModelName(given);
  if (const std::string cache = CacheOfEnvironment(); is_name && !cache.empty())
    if (std::string folder = CachedFolder(cache, given); !folder.empty()) return GgufOf(folder);
  Check(!IsNpz(given) && !given.ends_with(".gguf"), "{}: no such file", given);
  if (is_name && given.find('/') == given.npos)
    Fail(
        "{}: no such folder, and no such model in the cache; `headlight pull` takes the full name, ORG/NAME, see "
        "\"Names in the examples\" in docs/guides/get_a_model.md",
        given);
  if (is_name)
    Fail("{}: no such folder, and no such model in the cache; `headlight pull {}` downloads a model", given, given);
  Fail("{}: no such folder; a model is a folder or a GGUF file, and `headlight pull ORG/NAME` downloads one", given);
}

}  // namespace headlight

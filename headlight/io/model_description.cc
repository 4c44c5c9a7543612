#include "headlight/io/model_description.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/npz.h"

namespace headlight {

ModelFolder OpenModelDescription(const std::string& path) {
  if (std::error_code ignored; !IsNpz(path) || !std::filesystem::is_regular_file(path, ignored))
    return OpenModelFolder(path);
  const std::vector<std::string> names = NamesInNpz(path);
  Check(!names.empty(), "{}: holds no array", path);
  const std::string& first = *std::min_element(names.begin(), names.end());
  const std::string type = first.substr(0, first.find('/'));
  return {path, JsonView(Json::Object{{"model_type", type}}, path), JsonView(Json::Object{}, path),
          Safetensors::Of(path, {})};
}

}  // namespace headlight

// Adds the path of a file to errors of code that has no access to the path.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {

/// Returns the result of `action`. If it throws an Error that names neither `path` nor another file in its folder, the
/// path is prepended.
template <typename Action>
decltype(auto) InFile(const std::string& path, Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    const std::size_t folder = path.rfind('/') + 1;  // bytes of the folder's name; 0 without a folder
    if (text.find(path + ":") != text.npos || (folder > 0 && text.find(path.substr(0, folder)) != text.npos)) throw;
    throw Error(fmt::format("{}: {}", path, text), error.cause());
  }
}

/// Like InFile, for code that reads several files. Prepends the paths of all these files.
template <typename Action>
decltype(auto) InFiles(const std::vector<std::string>& paths, Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    for (const std::string& path : paths)
      if (text.find(path + ":") != text.npos) throw;
    throw Error(fmt::format("{}: {}", fmt::join(paths, ", "), text), error.cause());
  }
}

}  // namespace headlight

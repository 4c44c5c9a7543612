// The files of page/, which cmake/page.cmake embeds in the library.
#pragma once

#include <map>
#include <string_view>

namespace headlight {

/// Returns the content of each file by file name, such as "look.html".
std::map<std::string_view, std::string_view> PageFiles();

}  // namespace headlight

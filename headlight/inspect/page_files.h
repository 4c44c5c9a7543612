// The files of page/, which cmake/page.cmake makes part of the library.
#pragma once

#include <map>
#include <string_view>

namespace headlight {

// Text by name ("look.html").
std::map<std::string_view, std::string_view> PageFiles();

}  // namespace headlight

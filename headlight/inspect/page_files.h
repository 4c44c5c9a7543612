// The files of page/, which cmake/page.cmake makes part of the library.
#pragma once

#include <map>
#include <string_view>

namespace headlight {

// Name ("look.html") to text.
std::map<std::string_view, std::string_view> PageFiles();

}  // namespace headlight

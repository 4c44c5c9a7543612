// The files of page/, which cmake/page.cmake turns into constants.
#pragma once

#include <string_view>

namespace headlight {

extern const std::string_view kLookHtml, kLookCss, kLookJs;

}  // namespace headlight

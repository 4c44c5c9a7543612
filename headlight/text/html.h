// Text in HTML pages.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Escapes a text for use between tags or in an attribute with double quotes.
HEADLIGHT_API std::string EscapeHtml(std::string_view text);

}  // namespace headlight

// Text in pages.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

// A text as HTML shows it, between tags and within an attribute's double quotes.
HEADLIGHT_API std::string EscapeHtml(std::string_view text);

}  // namespace headlight

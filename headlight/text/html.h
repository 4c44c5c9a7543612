// Escapes text for HTML pages.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Escapes a text for use between HTML tags or in a double-quoted attribute.
HEADLIGHT_API std::string EscapeHtml(std::string_view text);

}  // namespace headlight

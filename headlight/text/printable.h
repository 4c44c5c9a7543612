// Makes untrusted text safe to display in a terminal.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Escapes characters that can change what a terminal shows, as \x1b or \u202e: control characters (except those in
/// `kept`), marks that change the direction of text, and bytes that are not UTF-8.
std::string Printable(std::string_view text, std::string_view kept);

/// For a name in a table row: also escapes tabs and line ends, which would break the row.
HEADLIGHT_API std::string InRow(std::string_view name);

/// For a model's output in a table row: replaces tabs and line ends by spaces.
HEADLIGHT_API std::string OnOneLine(std::string text);

}  // namespace headlight

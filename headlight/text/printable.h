// Makes untrusted text safe to display in a terminal.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Escapes characters that can change the terminal's output, for example as \x1b or \u202e. These are control
/// characters (except those in `kept`), marks that change the direction of text, and bytes that are not UTF-8.
std::string Printable(std::string_view text, std::string_view kept);

/// Escapes a name for a table row. Like Printable, but also escapes tabs and line ends, which would break the row.
HEADLIGHT_API std::string InRow(std::string_view name);

/// Replaces tabs and line ends in a model's output by spaces, for a table row.
HEADLIGHT_API std::string OnOneLine(std::string text);

}  // namespace headlight

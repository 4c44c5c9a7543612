// Texts from outside, as a terminal may show them.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Escapes what could change what a terminal shows: control characters, marks that turn the direction of text, and
/// bytes that are not UTF-8, as \x1b or \u202e; all but the control characters in `kept`.
std::string Printable(std::string_view text, std::string_view kept);

/// A name in a row of results: tabs and line ends are escaped, too, so that it cannot break the row.
HEADLIGHT_API std::string InRow(std::string_view name);

/// A text that a model wrote, in a row of results: tabs and line ends are spaces.
HEADLIGHT_API std::string OnOneLine(std::string text);

}  // namespace headlight

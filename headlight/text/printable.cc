#include "headlight/text/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "headlight/text/utf8.h"

namespace headlight {

std::string Printable(std::string_view text, std::string_view kept) {
  std::string printable;
  while (!text.empty()) {
    const auto [code, bytes] = DecodeUtf8(text);
    const std::string_view character = text.substr(0, static_cast<std::size_t>(std::max(bytes, 1)));
    const bool control = (code < 0x20 && kept.find(character) == kept.npos) || (code >= 0x7f && code < 0xa0);
    const bool turns = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    if (bytes == 0 || control)
      printable +=
          fmt::format("\\x{:02x}", bytes == 0 ? static_cast<unsigned char>(text[0]) : static_cast<unsigned>(code));
    else if (turns)
      printable += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    else
      printable += character;
    text.remove_prefix(character.size());
  }
  return printable;
}

std::string InRow(std::string_view name) { return Printable(name, ""); }

std::string OnOneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c >= '\t' && c <= '\r'; }, ' ');
  return text;
}

}  // namespace headlight

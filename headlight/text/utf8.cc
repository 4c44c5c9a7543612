#include "headlight/text/utf8.h"

#include <cstdint>
#include <cstring>

#include "headlight/base/error.h"

namespace headlight {

Utf8Character DecodeUtf8(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const int bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || text.size() < static_cast<std::size_t>(bytes)) return {};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (int index = 1; index < bytes; ++index) {
    if ((byte(index) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(index) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, bytes};
}

std::size_t ValidUtf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Most text is ASCII, so eight bytes are checked at a time.
    std::uint64_t eight;
    if (text.size() - at >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    const int bytes = DecodeUtf8(text.substr(at)).bytes;
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

void CheckUtf8(std::string_view text, std::string_view name) {
  const std::size_t valid = ValidUtf8(text);
  Check(valid == text.size(), "{}: byte {} is not UTF-8", name, valid);
}

void AppendUtf8(std::string& text, char32_t code) {
  Ensure(code <= 0x10FFFF, "AppendUtf8: {:#x} is not a character", static_cast<std::uint32_t>(code));
  const auto add = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

}  // namespace headlight

// Base64 (RFC 4648), which a `tokenizer.json` holds normalization rules in.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

std::string EncodeBase64(std::string_view bytes);
std::string DecodeBase64(std::string_view text);  // characters that are no digits are skipped

}  // namespace headlight

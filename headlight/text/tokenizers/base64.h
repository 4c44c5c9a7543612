// Base64 (RFC 4648), used for normalization rules in a `tokenizer.json`.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

std::string EncodeBase64(std::string_view bytes);
std::string DecodeBase64(std::string_view text);  // skips characters that are not digits

}  // namespace headlight

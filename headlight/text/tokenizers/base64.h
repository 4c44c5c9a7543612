// Base64 decoding (RFC 4648) for the normalization rules in a `tokenizer.json`.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

std::string EncodeBase64(std::string_view bytes);
std::string DecodeBase64(std::string_view text);  ///< skips characters outside the Base64 alphabet

}  // namespace headlight

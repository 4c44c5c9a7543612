// Formats counts for messages.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace headlight {

/// Returns "1 text", "2 texts" or "0 texts". The plural of a noun that ends in s or x ends in "es".
template <std::integral T>
std::string Counted(T count, std::string_view noun) {
  const bool hisses = noun.ends_with('s') || noun.ends_with('x');
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace headlight

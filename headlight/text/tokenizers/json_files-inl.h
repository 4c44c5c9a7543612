// Reading the JSON files of tokenizers, which may come from anyone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {

// Parses what nobody vouches for. An Error begins with `name`, the file's.
nlohmann::json ParseJsonFile(std::string_view text, const std::string& name);

// Parses, then calls body(json); what is wrong in either is an Error that begins with `name`.
template <typename Body>
auto WithJson(std::string_view text, const std::string& name, const Body& body) {
  const nlohmann::json parsed = ParseJsonFile(text, name);
  try {
    return body(parsed);
  } catch (const nlohmann::json::exception& error) {
    Fail("{}: {}", name, error.what());
  }
}

// The pieces of an object of pieces and their ids, in the order of the ids, which count from 0 without a gap.
std::vector<std::string> PiecesById(const nlohmann::json& vocabulary, const std::string& name);

std::string EncodeBase64(std::string_view bytes);
std::string DecodeBase64(std::string_view text);  // what is no digit is left out

}  // namespace headlight

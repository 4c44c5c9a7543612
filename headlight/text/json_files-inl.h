// Reading the JSON files of tokenizers, which may come from anyone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {

// Parses, then calls body(json); what is wrong in either is an Error that begins with `name`, the file's.
template <typename Body>
auto WithJson(std::string_view text, const std::string& name, const Body& body) {
  constexpr int deepest = 16;  // such files nest to 6
  using nlohmann::json;
  try {
    const json parsed = json::parse(text, [&](int depth, json::parse_event_t, json&) {
      Check(depth <= deepest, "{}: nests deeper than {} levels", name, deepest);
      return true;
    });
    return body(parsed);
  } catch (const json::parse_error& error) {
    Fail("{}: byte {}: it is not valid JSON, or was cut short", name, error.byte);  // its own text quotes the file
  } catch (const json::exception& error) {
    Fail("{}: {}", name, error.what());
  }
}

// The pieces of an object of pieces and their ids, in the order of the ids, which count from 0 without a gap.
std::vector<std::string> PiecesById(const nlohmann::json& vocabulary, const std::string& name);

std::string EncodeBase64(std::string_view bytes);
std::string DecodeBase64(std::string_view text);  // what is no digit is left out

}  // namespace headlight

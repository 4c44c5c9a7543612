#include <algorithm>
#include <cstdint>

#include "headlight/text/tokenizers/json_files-inl.h"

namespace headlight {

using Json = nlohmann::json;

namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

Json ParseJsonFile(std::string_view text, const std::string& name) {
  constexpr int deepest = 16;  // such files nest to 6
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
      Check(depth <= deepest, "{}: nests deeper than {} levels", name, deepest);
      return true;
    });
  } catch (const Json::parse_error& error) {
    Fail("{}: byte {}: it is not valid JSON, or was cut short", name, error.byte);  // its own text quotes the file
  } catch (const Json::exception& error) {
    Fail("{}: {}", name, error.what());
  }
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      group = group << 8 | (index < count ? static_cast<unsigned char>(bytes[at + index]) : 0);
    }
    for (std::size_t index = 0; index < 4; ++index) {
      text += index <= count ? kBase64[group >> (18 - 6 * index) & 63] : '=';
    }
  }
  return text;
}

std::string DecodeBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char character : text) {
    const std::size_t digit = kBase64.find(character);
    if (digit == std::string_view::npos) continue;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits);
  }
  return bytes;
}

std::vector<std::string> PiecesById(const Json& vocabulary, const std::string& name) {
  Check(vocabulary.is_object(), "{}: its vocabulary is no object of pieces and their ids", name);
  std::vector<std::string> pieces(vocabulary.size());
  std::vector<bool> taken(pieces.size());
  for (const auto& [piece, id] : vocabulary.items()) {
    const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() < pieces.size();
    Check(fits, "{}: the id of \"{}\" must be a number from 0 to {}, less than there are pieces", name, piece,
          std::max<std::size_t>(pieces.size(), 1) - 1);
    const auto index = id.get<std::size_t>();
    Check(!taken[index], "{}: \"{}\" and \"{}\" have the same id {}", name, pieces[index], piece, index);
    taken[index] = true;
    pieces[index] = piece;
  }
  return pieces;
}

}  // namespace headlight

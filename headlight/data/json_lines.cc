#include "headlight/data/json_lines.h"

#include <utility>

#include "headlight/base/error.h"

namespace headlight {

bool IsJsonLines(std::string_view path) { return path.ends_with(".jsonl") || path.ends_with(".jsonl.gz"); }

std::optional<JsonView> JsonLines::Next() {
  while (const auto line = lines_.Next()) {
    if (line->empty()) continue;
    std::string place = fmt::format("{}:{}", lines_.name(), lines_.line_number());
    Json value = ParseJson(*line, place);
    JsonView object(std::move(value), std::move(place));
    object.Object();  // refuses any other value
    return object;
  }
  return std::nullopt;
}

std::string TextOf(const JsonView& json) {
  std::string text = json.String();
  Check(text.find('\0') == std::string::npos, "{}: it holds a NUL, which no text has", json.place());
  return text;
}

std::vector<std::string> TextsOf(const JsonView& json) {
  std::vector<std::string> texts;
  for (const JsonView& item : json.Items()) texts.push_back(TextOf(item));
  return texts;
}

}  // namespace headlight

#include "headlight/inspect/attention_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/image/resize.h"
#include "headlight/inspect/color_ramp.h"
#include "headlight/inspect/page_files.h"
#include "headlight/text/html.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

// JSON for a script element, in which "</script" and "<!--" have a meaning: every '<', which JSON only has in strings,
// is escaped.
std::string EscapeScript(std::string_view json) {
  std::string escaped;
  for (const char letter : json) {
    if (letter == '<') {
      escaped += "\\u003c";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

// The digits of base 64 in which numbers are written: none has a meaning in JSON or HTML.
constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void AppendTwoDigits(std::string& packed, int number) {
  packed += kDigits[number / 64];
  packed += kDigits[number % 64];
}

// Weights as two digits each: those up to kUnit are round(kUnit * sqrt(weight)), so that small weights keep their
// precision; the higher ones are runs of 2, 3, ... weights of 0.
constexpr int kUnit = 3999, kLongestRun = 64 * 64 - 1 - kUnit + 1;
constexpr float kLeastWeight = 0.00002f;  // less is written as 0

std::string PackWeights(std::span<const float> weights) {
  std::string packed;
  packed.reserve(2 * weights.size());
  for (std::size_t i = 0; i < weights.size();) {
    std::size_t end = i;
    while (end < weights.size() && end < i + kLongestRun && weights[end] < kLeastWeight) ++end;
    if (end > i + 1) {
      AppendTwoDigits(packed, kUnit + static_cast<int>(end - i) - 1);
      i = end;
      continue;
    }
    const float weight = weights[i] < kLeastWeight ? 0 : std::min(weights[i], 1.0f);
    AppendTwoDigits(packed, static_cast<int>(std::lround(kUnit * std::sqrt(weight))));
    ++i;
  }
  return packed;
}

// Elements as two digits each, from -largest (0) to largest (4000).
std::string PackElements(std::span<const float> elements, float largest) {
  std::string packed;
  packed.reserve(2 * elements.size());
  for (const float element : elements)
    AppendTwoDigits(packed, static_cast<int>(std::lround((element / largest + 1) * 2000)));
  return packed;
}

// Bytes, three in four digits; the last are filled up with zeros.
std::string PackBytes(std::span<const std::uint8_t> bytes) {
  std::string packed;
  packed.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? int{bytes[at]} : 0; };
    const int three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    AppendTwoDigits(packed, three >> 12);
    AppendTwoDigits(packed, three & 4095);
  }
  return packed;
}

std::string RampHex(Theme theme) {
  std::string hex;
  for (int i = 0; i < 256; ++i) {
    const Color color = RampColor(i / 255.0, theme);
    hex += fmt::format("{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
  }
  return hex;
}

Json Labels(const std::vector<std::string>& tokens) {
  Json::Array labels;
  for (const std::string& token : tokens) labels.push_back(TokenLabel(token));
  return labels;
}

// A larger picture is reduced: the page shows it no larger.
constexpr std::int64_t kLongestSide = 800;

Json Pixels(const Picture& picture) {
  const double scale = static_cast<double>(kLongestSide) / static_cast<double>(std::max(picture.height, picture.width));
  const auto side = [&](std::int64_t whole) {
    return std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(whole)));
  };
  const Picture shown =
      scale < 1 ? Resize(picture, side(picture.height), side(picture.width), ResizeFilter::bilinear) : picture;
  return Json::Object{{"height", shown.height}, {"width", shown.width}, {"pixels", PackBytes(shown.pixels)}};
}

// Left, top, width and height as shares of the picture.
Json Boxes(const std::vector<Box>& boxes, const Picture& picture) {
  const auto height = static_cast<double>(picture.height), width = static_cast<double>(picture.width);
  Json::Array shares;
  for (const Box& box : boxes)
    shares.push_back(Json::Array{static_cast<float>(box.left / width), static_cast<float>(box.top / height),
                                 static_cast<float>(box.width() / width), static_cast<float>(box.height() / height)});
  return shares;
}

Json Side(const std::vector<std::string>& tokens, const std::vector<int>& special,
          const std::optional<PictureTokens>& picture) {
  Json side = Json::Object{{"tokens", Labels(tokens)}, {"special", special}};
  if (!picture) return side;
  Json cells = Pixels(picture->picture);
  cells.Set("first", picture->first);
  cells.Set("rows", picture->rows);
  cells.Set("columns", picture->columns);
  if (!picture->boxes.empty()) cells.Set("boxes", Boxes(picture->boxes, picture->picture));
  side.Set("picture", std::move(cells));
  return side;
}

Json Map(const AttentionMap& map, bool with_elements) {
  const std::span<const float> weights = map.weights;
  const std::size_t head = static_cast<std::size_t>(map.queries) * map.keys;
  const bool to_text = map.kind == AttentionKind::picture_to_text;
  Json::Array heads;
  for (std::size_t at = 0; at < weights.size(); at += head) heads.push_back(PackWeights(weights.subspan(at, head)));
  Json json = Json::Object{{"kind", MapName(map)},
                           {"title", MapTitle(map)},
                           {"relevance", map.relevance},
                           {"queries", map.kind == AttentionKind::encoder_self || to_text ? "source" : "target"},
                           {"keys", map.kind == AttentionKind::decoder_self || to_text ? "target" : "source"},
                           {"causal", map.kind == AttentionKind::decoder_self},
                           {"layer", map.layer + 1},
                           {"heads", map.heads},
                           {"weights", std::move(heads)}};
  if (!with_elements) return json;
  const auto& [size, query, key] = *map.elements;
  float largest = 1e-6f;
  for (const std::vector<float>* side : {&query, &key})
    for (const float element : *side) largest = std::max(largest, std::abs(element));
  json.Set("elements", Json::Object{{"size", size},
                                    {"largest", largest},
                                    {"query", PackElements(query, largest)},
                                    {"key", PackElements(key, largest)}});
  return json;
}

// Queries and keys are left out where there are more numbers than this, 2 MB of page.
constexpr std::size_t kMostElements = 1'000'000;

// The data that page/weights.js reads, where the fields are documented.
Json PageData(std::span<const AttentionRecord> records, const PageOptions& options) {
  std::size_t elements = 0;
  for (const AttentionRecord& record : records)
    for (const AttentionMap& map : record.maps)
      if (map.elements) elements += map.elements->query.size() + map.elements->key.size();
  Json::Array json;
  for (const AttentionRecord& record : records) {
    Json::Array maps;
    for (const AttentionMap& map : record.maps)
      maps.push_back(Map(map, map.elements.has_value() && elements <= kMostElements));
    json.push_back(
        Json::Object{{"name", TokenLabel(record.title.empty() ? "Attention" : record.title)},
                     {"source", Side(record.source_tokens, record.source_special, record.source_picture)},
                     {"target", Side(record.target_tokens, record.target_special, record.target_picture)},
                     {"boxes", record.source_picture ? Boxes(record.target_boxes, record.source_picture->picture)
                                                     : Json(Json::Array())},
                     {"maps", std::move(maps)}});
  }
  return Json::Object{{"records", std::move(json)},
                      {"query", options.query},
                      {"mass", options.mass ? Json(*options.mass) : Json()},
                      {"slider", options.slider},
                      {"ramps", Json::Object{{"light", RampHex(Theme::light)}, {"dark", RampHex(Theme::dark)}}}};
}

// The template with each {{name}} replaced, in one pass: replacements are not searched.
std::string Fill(std::string_view text, const std::map<std::string_view, std::string_view>& values) {
  std::string filled;
  while (true) {
    const std::size_t begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const std::size_t end = text.find("}}", begin);
    Ensure(end != std::string_view::npos, "look.html: a {{{{ without its }}}}");
    const auto value = values.find(text.substr(begin + 2, end - begin - 2));
    Ensure(value != values.end(), "look.html: no value for {}", text.substr(begin, end + 2 - begin));
    filled += value->second;
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string AttentionPage(const AttentionRecord& record) {
  return AttentionPage({&record, 1}, {.title = record.title});
}

std::string AttentionPage(std::span<const AttentionRecord> records, const PageOptions& options) {
  Check(!records.empty(), "attention: there is no record to show");
  for (const AttentionRecord& record : records) CheckAttention(record, kMostWeights / std::ssize(records));
  const std::string title = EscapeHtml(options.title.empty() ? "Attention" : TokenLabel(options.title));
  const std::string data = EscapeScript(PageData(records, options).Line());
  std::map<std::string_view, std::string_view> values = PageFiles();
  values["title"] = title;
  values["data"] = data;
  return Fill(values.at("look.html"), values);
}

}  // namespace headlight

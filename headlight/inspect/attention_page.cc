#include "headlight/inspect/attention_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/image/resize.h"
#include "headlight/inspect/page_data.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

Json Labels(const std::vector<std::string>& tokens) {
  Json::Array labels;
  for (const std::string& token : tokens) labels.push_back(TokenLabel(token));
  return labels;
}

// Larger images are downsampled, since the page does not show them at a larger size.
constexpr std::int64_t kLongestSide = 800;

Json Pixels(const Image& image) {
  const double scale = static_cast<double>(kLongestSide) / static_cast<double>(std::max(image.height, image.width));
  const auto side = [&](std::int64_t whole) {
    return std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(whole)));
  };
  const Image shown = scale < 1 ? Resize(image, side(image.height), side(image.width), ResizeFilter::bilinear) : image;
  return Json::Object{{"height", shown.height}, {"width", shown.width}, {"pixels", PackBytes(shown.pixels)}};
}

// Returns the left, top, width and height relative to the image size.
Json Boxes(const std::vector<Box>& boxes, const Image& image) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  Json::Array shares;
  for (const Box& box : boxes)
    shares.push_back(Json::Array{static_cast<float>(box.left / width), static_cast<float>(box.top / height),
                                 static_cast<float>(box.width() / width), static_cast<float>(box.height() / height)});
  return shares;
}

Json Side(const std::vector<std::string>& tokens, const std::vector<int>& special,
          const std::optional<ImageTokens>& image) {
  Json side = Json::Object{{"tokens", Labels(tokens)}, {"special", special}};
  if (!image) return side;
  Json cells = Pixels(image->image);
  cells.Set("first", image->first);
  cells.Set("rows", image->rows);
  cells.Set("columns", image->columns);
  if (!image->boxes.empty()) cells.Set("boxes", Boxes(image->boxes, image->image));
  side.Set("image", std::move(cells));
  return side;
}

Json Map(const AttentionMap& map, bool with_elements) {
  const std::span<const float> weights = map.weights;
  const std::size_t head = static_cast<std::size_t>(map.queries) * map.keys;
  const bool to_text = map.kind == AttentionKind::image_to_text;
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
                                    {"query", PackNumbers(query, -largest, largest)},
                                    {"key", PackNumbers(key, -largest, largest)}});
  return json;
}

// Queries and keys with more elements than this are omitted. This limits them to 2 MB of the page.
constexpr std::size_t kMostElements = 1'000'000;

// Returns the data for page/weights.js, which documents the fields.
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
    json.push_back(Json::Object{
        {"name", TokenLabel(record.title.empty() ? "Attention" : record.title)},
        {"source", Side(record.source_tokens, record.source_special, record.source_image)},
        {"target", Side(record.target_tokens, record.target_special, record.target_image)},
        {"boxes", record.source_image ? Boxes(record.target_boxes, record.source_image->image) : Json(Json::Array())},
        {"maps", std::move(maps)}});
  }
  return Json::Object{{"records", std::move(json)},
                      {"query", options.query},
                      {"mass", options.mass ? Json(*options.mass) : Json()},
                      {"slider", options.slider},
                      {"ramps", Ramps()}};
}

}  // namespace

std::string AttentionPage(const AttentionRecord& record) {
  return AttentionPage({&record, 1}, {.title = record.title});
}

std::string AttentionPage(std::span<const AttentionRecord> records, const PageOptions& options) {
  Check(!records.empty(), "attention: there is no record to show");
  for (const AttentionRecord& record : records) CheckAttention(record, kMostWeights / std::ssize(records));
  return FillPage("look.html", options.title.empty() ? "Attention" : options.title, PageData(records, options));
}

}  // namespace headlight

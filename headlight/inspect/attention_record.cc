#include "headlight/inspect/attention_record.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// The kinds that a record can contain.
constexpr AttentionKind kKinds[] = {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross,
                                    AttentionKind::text_to_image, AttentionKind::image_to_text};

// Groups the rows of one sentence, [tokens, heads * size], by head.
std::vector<float> ByHead(const Tensor& rows, int heads, int size) {
  const std::vector<float> values = rows.ToVector<float>();
  const std::size_t tokens = values.size() / (static_cast<std::size_t>(heads) * size);
  std::vector<float> by_head(values.size());
  for (std::size_t token = 0; token < tokens; ++token)
    for (int head = 0; head < heads; ++head)
      std::copy_n(values.data() + (token * heads + head) * size, size, by_head.data() + (head * tokens + token) * size);
  return by_head;
}

void CheckTokens(const char* name, std::size_t tokens, const std::vector<int>& special,
                 const std::optional<ImageTokens>& image) {
  for (const int index : special)
    Check(index >= 0 && static_cast<std::size_t>(index) < tokens, "special {} token {}: there are {} tokens", name,
          index, tokens);
  if (!image) return;
  const Image& pixels = image->image;
  const std::int64_t last_row = (std::int64_t{image->rows} - 1) * image->columns + image->first;
  Check(image->first >= 0 && image->rows >= 1 && image->columns >= 1 &&
            (!image->boxes.empty() || last_row < static_cast<std::int64_t>(tokens)),
        "the {} image's {} x {} cells from token {} on: there are {} tokens", name, image->rows, image->columns,
        image->first, tokens);
  Check(image->boxes.empty() || image->boxes.size() == tokens, "{} boxes of the {} image: there are {} tokens",
        image->boxes.size(), name, tokens);
  Check(pixels.height >= 1 && pixels.width >= 1 &&
            static_cast<std::int64_t>(pixels.pixels.size()) == pixels.height * pixels.width * 3,
        "the {} image of {} x {} pixels has {} values", name, pixels.height, pixels.width, pixels.pixels.size());
}

}  // namespace

AttentionMap MapOf(const LayerAttention& seen) {
  const Shape& shape = seen.weights.shape();  // [1, heads, query, key]
  AttentionMap map{seen.kind,
                   seen.layer,
                   static_cast<int>(shape[1]),
                   static_cast<int>(shape[2]),
                   static_cast<int>(shape[3]),
                   seen.weights.ToVector<float>()};
  if (!seen.query.empty()) {
    const int size = static_cast<int>(seen.query.columns()) / map.heads;
    map.elements = {size, ByHead(seen.query, map.heads, size), ByHead(seen.key, map.heads, size)};
  }
  return map;
}

std::string_view AttentionTitle(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "Encoder self-attention";
    case AttentionKind::decoder_self:
      return "Decoder self-attention";
    case AttentionKind::cross:
      return "Cross-attention";
    case AttentionKind::image_self:
      return "Image's self-attention";
    case AttentionKind::text_to_image:
      return "Attention from text to image";
    case AttentionKind::image_to_text:
      return "Attention from image to text";
  }
  Fail("attention kind {}: not one of the six", static_cast<int>(kind));
}

std::string_view AttentionName(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "encoder";
    case AttentionKind::decoder_self:
      return "decoder";
    case AttentionKind::cross:
      return "cross";
    case AttentionKind::image_self:
      return "image";
    case AttentionKind::text_to_image:
      return "text-to-image";
    case AttentionKind::image_to_text:
      return "image-to-text";
  }
  Fail("attention kind {}: not one of the six", static_cast<int>(kind));
}

std::string MapTitle(const AttentionMap& map) {
  if (map.relevance) return "Relevance";
  return map.rollout ? fmt::format("Attention rollout ({})", AttentionName(map.kind))
                     : std::string(AttentionTitle(map.kind));
}

std::string MapName(const AttentionMap& map) {
  if (map.relevance) return "relevance";
  return map.rollout ? fmt::format("rollout-{}", AttentionName(map.kind)) : std::string(AttentionName(map.kind));
}

AttentionChoice ParseAttentionChoice(std::string_view name) {
  if (name == "rollout") return {.rollout = true};
  for (const AttentionKind kind : kKinds) {
    if (name == AttentionName(kind)) return {.kind = kind};
  }
  Fail("attention \"{}\": must be encoder, decoder, cross, text-to-image, image-to-text or rollout", name);
}

void CheckAttention(const AttentionRecord& record, std::int64_t most) {
  Check(!record.maps.empty(), "attention: there is no map to show");
  Check(
      record.target_boxes.empty() || (record.source_image && record.target_boxes.size() == record.target_tokens.size()),
      "attention: {} boxes of {} target tokens", record.target_boxes.size(), record.target_tokens.size());
  std::int64_t total = 0;
  for (const AttentionMap& map : record.maps) {
    const std::string location = fmt::format("{}, layer {}", MapTitle(map), map.layer + 1);
    Check(map.heads > 0 && map.queries > 0 && map.keys > 0 && map.layer >= 0,
          "{}: heads {}, queries {}, keys {}: each must be at least 1", location, map.heads, map.queries, map.keys);
    const std::size_t queries = record.query_tokens(map.kind).size(), keys = record.key_tokens(map.kind).size();
    Check(static_cast<std::size_t>(map.queries) == queries && static_cast<std::size_t>(map.keys) == keys,
          "{}: [query, key] is [{}, {}], but there are {} query and {} key tokens", location, map.queries, map.keys,
          queries, keys);
    // Each factor is at most `most`, so that the products cannot overflow.
    const std::int64_t row = std::int64_t{map.queries} * map.keys;
    Check(row <= most && (total += row * map.heads) <= most,
          "attention: {} maps hold more than {} weights: show one attention or one layer", record.maps.size(), most);
    Check(static_cast<std::int64_t>(map.weights.size()) == row * map.heads,
          "{}: {} weights, but [heads, query, key] is [{}, {}, {}]", location, map.weights.size(), map.heads,
          map.queries, map.keys);
    for (std::size_t i = 0; i < map.weights.size(); ++i) {
      const float weight = map.weights[i];
      Check(weight >= 0 && weight <= 1.001f, "{}: weight {} of head {}, query {}, key {}: must be in [0, 1]", location,
            weight, i / row + 1, i % row / map.keys, i % map.keys);
      Check(weight == 0 || !map.masked(i % row / map.keys, i % map.keys),
            "{}: weight {} of head {}, query {}, key {}: a later token must have none", location, weight, i / row + 1,
            i % row / map.keys, i % map.keys);
    }
    if (!map.elements) continue;
    const auto& [size, query, key] = *map.elements;
    const std::size_t width = static_cast<std::size_t>(map.heads) * static_cast<std::size_t>(std::max(size, 0));
    Check(size >= 1 && query.size() == width * queries && key.size() == width * keys,
          "{}: {} elements of queries and {} of keys do not fit {} heads of {}", location, query.size(), key.size(),
          map.heads, size);
  }
  CheckTokens("source", record.source_tokens.size(), record.source_special, record.source_image);
  CheckTokens("target", record.target_tokens.size(), record.target_special, record.target_image);
}

float LargestWeight(const AttentionMap& map) {
  const int first = map.kind == AttentionKind::decoder_self && map.queries > 1 ? 1 : 0;
  float largest = 0.001f;
  for (int head = 0; head < map.heads; ++head)
    for (int query = first; query < map.queries; ++query)
      for (int key = 0; key < map.keys; ++key) largest = std::max(largest, map.at(head, query, key));
  return std::min(largest, 1.0f);
}

void AddRollout(AttentionRecord& record) {
  std::vector<AttentionMap> rollouts;
  rollouts.reserve(record.maps.size());  // `before` points into it
  for (const AttentionKind kind : {AttentionKind::encoder_self, AttentionKind::decoder_self}) {
    if (kind == AttentionKind::decoder_self && !record.source_tokens.empty())
      continue;  // a decoder with cross-attention also depends on the source
    const AttentionMap* before = nullptr;
    std::size_t layers = 0;
    for (const AttentionMap& map : record.maps) {
      if (map.kind != kind || map.layer != static_cast<int>(layers) || map.queries != map.keys) continue;
      ++layers;
      const auto tokens = static_cast<std::size_t>(map.queries);
      AttentionMap rollout{kind, map.layer, 1, map.queries, map.keys, std::vector<float>(tokens * tokens), true};
      std::vector<float> mixed(tokens);  // a row of (A + I) / 2
      for (std::size_t query = 0; query < tokens; ++query) {
        std::ranges::fill(mixed, 0.0f);
        for (int head = 0; head < map.heads; ++head)
          for (std::size_t key = 0; key < tokens; ++key)
            mixed[key] += map.weights[(head * tokens + query) * tokens + key] * 0.5f / static_cast<float>(map.heads);
        mixed[query] += 0.5f;
        float* const row = rollout.weights.data() + query * tokens;
        for (std::size_t through = 0; through < tokens; ++through) {
          if (before == nullptr) {
            row[through] = mixed[through];
            continue;
          }
          const float* const earlier = before->weights.data() + through * tokens;
          for (std::size_t key = 0; key < tokens; ++key) row[key] += mixed[through] * earlier[key];
        }
      }
      rollouts.push_back(std::move(rollout));
      before = &rollouts.back();
    }
  }
  record.maps.insert(record.maps.end(), std::make_move_iterator(rollouts.begin()),
                     std::make_move_iterator(rollouts.end()));
}

AttentionRecord SelectAttention(AttentionRecord record, const AttentionChoice& choice) {
  std::string there;
  std::vector<AttentionMap> chosen;
  for (AttentionMap& map : record.maps) {
    there += fmt::format("{}{} {}", there.empty() ? "" : ", ", map.rollout ? "rollout" : MapName(map), map.layer + 1);
    const bool kind = choice.kind ? !map.rollout && map.kind == *choice.kind : choice.rollout ? map.rollout : true;
    if (kind && map.layer == choice.layer.value_or(map.layer)) chosen.push_back(std::move(map));
  }
  const std::string kind = choice.kind      ? fmt::format("attention {}", AttentionName(*choice.kind))
                           : choice.rollout ? "attention rollout"
                                            : "";
  const std::string layer = choice.layer ? fmt::format("layer {}", *choice.layer + 1) : "";
  Check(!chosen.empty(), "{}{}{}: the model has no such attention; it has: {}", kind,
        kind.empty() || layer.empty() ? "" : ", ", layer, there.empty() ? "none" : there);
  record.maps = std::move(chosen);
  return record;
}

}  // namespace headlight

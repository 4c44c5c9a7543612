#include "headlight/inspect/attention_record.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// The most weights of a page or picture. 18 maps of 8 heads over 300 tokens fit; a browser or a viewer of vector
// drawings gives up not far above.
constexpr std::int64_t kMostWeights = 16'000'000;

constexpr AttentionKind kKinds[] = {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross};

}  // namespace

AttentionMap MapOf(const LayerAttention& seen) {
  const Shape& shape = seen.weights.shape();  // [1, heads, query, key]
  return {seen.kind,
          seen.layer,
          static_cast<int>(shape[1]),
          static_cast<int>(shape[2]),
          static_cast<int>(shape[3]),
          seen.weights.ToVector<float>()};
}

std::string_view AttentionTitle(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "Encoder self-attention";
    case AttentionKind::decoder_self:
      return "Decoder self-attention";
    case AttentionKind::cross:
      return "Cross-attention";
  }
  Fail("attention kind {}: not one of the three", static_cast<int>(kind));
}

std::string_view AttentionName(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "encoder";
    case AttentionKind::decoder_self:
      return "decoder";
    case AttentionKind::cross:
      return "cross";
  }
  Fail("attention kind {}: not one of the three", static_cast<int>(kind));
}

AttentionKind ParseAttentionKind(std::string_view name) {
  for (const AttentionKind kind : kKinds) {
    if (name == AttentionName(kind)) return kind;
  }
  Fail("attention \"{}\": must be encoder, decoder or cross", name);
}

void CheckAttention(const AttentionRecord& record) {
  Check(!record.maps.empty(), "attention: there is no map to show");
  std::int64_t total = 0;
  for (const AttentionMap& map : record.maps) {
    const std::string place = fmt::format("{}, layer {}", AttentionTitle(map.kind), map.layer + 1);
    Check(map.heads > 0 && map.queries > 0 && map.keys > 0 && map.layer >= 0,
          "{}: heads {}, queries {}, keys {}: each must be at least 1", place, map.heads, map.queries, map.keys);
    const std::size_t queries = record.query_tokens(map.kind).size(), keys = record.key_tokens(map.kind).size();
    Check(static_cast<std::size_t>(map.queries) == queries && static_cast<std::size_t>(map.keys) == keys,
          "{}: [query, key] is [{}, {}], but there are {} query and {} key tokens", place, map.queries, map.keys,
          queries, keys);
    // At most kMostWeights each, so that the products cannot overflow.
    const std::int64_t row = std::int64_t{map.queries} * map.keys;
    Check(row <= kMostWeights && (total += row * map.heads) <= kMostWeights,
          "attention: {} maps hold more than {} weights: show one attention or one layer", record.maps.size(),
          kMostWeights);
    Check(static_cast<std::int64_t>(map.weights.size()) == row * map.heads,
          "{}: {} weights, but [heads, query, key] is [{}, {}, {}]", place, map.weights.size(), map.heads, map.queries,
          map.keys);
    for (std::size_t i = 0; i < map.weights.size(); ++i) {
      const float weight = map.weights[i];
      Check(weight >= 0 && weight <= 1.001f, "{}: weight {} of head {}, query {}, key {}: must be in [0, 1]", place,
            weight, i / row + 1, i % row / map.keys, i % map.keys);
      Check(weight == 0 || !map.masked(i % row / map.keys, i % map.keys),
            "{}: weight {} of head {}, query {}, key {}: a later token must have none", place, weight, i / row + 1,
            i % row / map.keys, i % map.keys);
    }
  }
}

float LargestWeight(const AttentionMap& map) {
  const int first = map.kind == AttentionKind::decoder_self && map.queries > 1 ? 1 : 0;
  float largest = 0.001f;
  for (int head = 0; head < map.heads; ++head)
    for (int query = first; query < map.queries; ++query)
      for (int key = 0; key < map.keys; ++key) largest = std::max(largest, map.at(head, query, key));
  return std::min(largest, 1.0f);
}

AttentionRecord SelectAttention(AttentionRecord record, std::optional<AttentionKind> kind, std::optional<int> layer) {
  std::string there;
  std::vector<AttentionMap> chosen;
  for (AttentionMap& map : record.maps) {
    there += fmt::format("{}{} {}", there.empty() ? "" : ", ", AttentionName(map.kind), map.layer + 1);
    if (map.kind == kind.value_or(map.kind) && map.layer == layer.value_or(map.layer)) chosen.push_back(std::move(map));
  }
  Check(!chosen.empty(), "attention {}, layer {}: there is none; there are: {}",
        kind ? AttentionName(*kind) : "of any kind", layer ? std::to_string(*layer + 1) : "any",
        there.empty() ? "none" : there);
  record.maps = std::move(chosen);
  return record;
}

}  // namespace headlight

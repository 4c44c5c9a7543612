// The attention of one sentence pair as plain data, for pictures and pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/attention_sink.h"

namespace headlight {

// Every head of one attention of one layer.
struct AttentionMap {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;  // from 0; shown and named from 1
  int heads = 0, queries = 0, keys = 0;
  std::vector<float> weights;  // [heads, query, key]; a row sums to 1

  float at(int head, int query, int key) const {
    return weights[(static_cast<std::size_t>(head) * queries + query) * keys + key];
  }
  // Causal: a decoder's token attends to itself and to earlier tokens only.
  bool masked(int query, int key) const { return kind == AttentionKind::decoder_self && key > query; }
};

struct AttentionRecord {
  std::string title;                       // for example the model's name; may be empty
  std::vector<std::string> source_tokens;  // what the encoder read; empty for a model that is only a decoder
  std::vector<std::string> target_tokens;  // what the decoder read; empty for a model that is only an encoder
  std::vector<AttentionMap> maps;          // in the order in which they are shown

  const std::vector<std::string>& query_tokens(AttentionKind kind) const {
    return kind == AttentionKind::encoder_self ? source_tokens : target_tokens;
  }
  const std::vector<std::string>& key_tokens(AttentionKind kind) const {
    return kind == AttentionKind::decoder_self ? target_tokens : source_tokens;
  }
};

// The weight that has the last colour of a map: its largest, without the first query of a causal map, which can look at
// itself alone and so always has a weight of 1. At least 0.001, the least that is shown.
HEADLIGHT_API float LargestWeight(const AttentionMap& map);

// The map of what an AttentionSink receives in a pass with one sentence.
HEADLIGHT_API AttentionMap MapOf(const LayerAttention& seen);

HEADLIGHT_API std::string_view AttentionTitle(AttentionKind kind);  // "Cross-attention"
HEADLIGHT_API std::string_view AttentionName(AttentionKind kind);   // "cross", as an option's value
// The kind of this name; throws Error listing the three names.
HEADLIGHT_API AttentionKind ParseAttentionKind(std::string_view name);

// Throws Error unless there is a map, every map fits its tokens, every weight is in [0, 1] and every masked one 0.
HEADLIGHT_API void CheckAttention(const AttentionRecord& record);

// The record with only the maps of this kind and this layer (from 0). Throws Error listing the maps there are, where
// none is left.
HEADLIGHT_API AttentionRecord SelectAttention(AttentionRecord record, std::optional<AttentionKind> kind,
                                              std::optional<int> layer);

}  // namespace headlight

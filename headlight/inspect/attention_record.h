// The attention of one input as plain data, for images and pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/nn/attention_hook.h"

namespace headlight {

// The queries and keys that an attention's scores are made of, by element.
struct AttentionElements {
  int size = 0;                   // elements of a head's query or key
  std::vector<float> query, key;  // [heads, query, size] and [heads, key, size]
};

// Every head of one attention of one layer.
struct AttentionMap {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;  // from 0; shown and named from 1
  int heads = 0, queries = 0, keys = 0;
  std::vector<float> weights;  // [heads, query, key]; a row sums to 1
  bool rollout = false;        // of all layers to this one together, as AddRollout makes it; one head
  bool relevance = false;      // of a score, of all layers from this one on, as RelevanceOf makes it; one head
  std::optional<AttentionElements> elements = {};

  float at(int head, int query, int key) const {
    return weights[(static_cast<std::size_t>(head) * queries + query) * keys + key];
  }
  // Causal: a decoder's token attends to itself and to earlier tokens only.
  bool masked(int query, int key) const { return kind == AttentionKind::decoder_self && key > query; }
};

// An image whose cells, such as patches, are tokens.
struct ImageTokens {
  Image image;  // as the model read it
  // The token of the cell at the upper left; the others follow row by row, and the last ones may have none.
  int first = 0;
  int rows = 0, columns = 0;  // of cells
  // Where tokens are regions of the image and no cells: each one's, in its pixels. They are shown on a grid of rows
  // and columns.
  std::vector<Box> boxes = {};
  int cells() const { return rows * columns; }
};

struct AttentionRecord {
  std::string title;  // for example the model's name; may be empty
  // The encoder's tokens, or the regions of an image; empty for a model that is only a decoder.
  std::vector<std::string> source_tokens;
  // The decoder's tokens, or the words beside an image; empty for a model that is only an encoder.
  std::vector<std::string> target_tokens;
  std::vector<AttentionMap> maps;  // in the order in which they are shown
  // The tokens that the model's form adds to the input, such as [CLS], which a reader may want to hide; by index.
  std::vector<int> source_special = {}, target_special = {};
  std::optional<ImageTokens> source_image = {}, target_image = {};  // where those tokens are of an image
  // Of a detector, whose target tokens are what it has found: where each of them is, in the pixels of source_image.
  std::vector<Box> target_boxes = {};

  const std::vector<std::string>& query_tokens(AttentionKind kind) const {
    return kind == AttentionKind::encoder_self || kind == AttentionKind::image_to_text ? source_tokens : target_tokens;
  }
  const std::vector<std::string>& key_tokens(AttentionKind kind) const {
    return kind == AttentionKind::decoder_self || kind == AttentionKind::image_to_text ? target_tokens : source_tokens;
  }
  const std::optional<ImageTokens>& query_image(AttentionKind kind) const {
    return kind == AttentionKind::encoder_self || kind == AttentionKind::image_to_text ? source_image : target_image;
  }
  const std::optional<ImageTokens>& key_image(AttentionKind kind) const {
    return kind == AttentionKind::decoder_self || kind == AttentionKind::image_to_text ? target_image : source_image;
  }
};

// The most weights of a page: 12 layers of 12 heads over 650 tokens fit, or one layer of 12 heads over 2,300. A drawing
// may have fewer, since a viewer of vector drawings gives up earlier.
constexpr std::int64_t kMostWeights = 64'000'000, kMostDrawnWeights = 16'000'000;

// The weight that has the last colour of a map: its largest, without the first query of a causal map, which can look at
// itself alone and so always has a weight of 1. At least 0.001, the least that is shown.
HEADLIGHT_API float LargestWeight(const AttentionMap& map);

// The map of what an AttentionHook receives in a pass with one sentence.
HEADLIGHT_API AttentionMap MapOf(const LayerAttention& seen);

HEADLIGHT_API std::string_view AttentionTitle(AttentionKind kind);  // "Cross-attention"
HEADLIGHT_API std::string_view AttentionName(AttentionKind kind);   // "cross", as an option's value
HEADLIGHT_API std::string MapTitle(const AttentionMap& map);        // "Cross-attention", "Attention rollout (encoder)"
HEADLIGHT_API std::string MapName(const AttentionMap& map);         // "cross", "rollout-encoder", "relevance"

// Throws Error unless there is a map, all together hold at most `most` weights, every map fits its tokens, every weight
// is in [0, 1] and every masked one 0, and images and special tokens are within the tokens.
HEADLIGHT_API void CheckAttention(const AttentionRecord& record, std::int64_t most = kMostWeights);

// Adds attention rollout (Abnar and Zuidema, "Quantifying Attention Flow in Transformers", 2020) for each
// self-attention of which every layer from the first on is there: how much of each input token has reached a token
// after layer l, where a layer keeps half of a state and mixes in the mean of its heads, R(l) = (A(l) + I) / 2 R(l-1).
HEADLIGHT_API void AddRollout(AttentionRecord& record);

// Which maps are wanted: of this kind (or the rollout), and of this layer (from 0).
struct AttentionChoice {
  std::optional<AttentionKind> kind = {};
  bool rollout = false;
  std::optional<int> layer = {};
};
// The choice that names "encoder", "decoder", "cross", "text-to-image", "image-to-text" or "rollout" makes; throws
// Error listing these names.
HEADLIGHT_API AttentionChoice ParseAttentionChoice(std::string_view name);

// The record with only the maps that are wanted; rollout maps stay unless a kind was chosen. Throws Error listing the
// maps there are, where none is left.
HEADLIGHT_API AttentionRecord SelectAttention(AttentionRecord record, const AttentionChoice& choice);

}  // namespace headlight

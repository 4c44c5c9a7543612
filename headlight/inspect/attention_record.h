// The attention of one input as plain data, for drawings and pages.
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

/// The elements of the queries and keys, from which attention scores are computed.
struct AttentionElements {
  int size = 0;                   ///< size of a head's query or key
  std::vector<float> query, key;  ///< [heads, query, size] and [heads, key, size]
};

/// All heads of one attention of one layer.
struct AttentionMap {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;  ///< from 0; displayed from 1
  int heads = 0, queries = 0, keys = 0;
  std::vector<float> weights;  ///< [heads, query, key]; a row sums to 1
  bool rollout = false;        ///< if true, made by AddRollout: one head, rollout over the layers up to this one
  bool relevance = false;      ///< if true, made by RelevanceOf: one head, relevance over the layers from this one on
  std::optional<AttentionElements> elements = {};

  float at(int head, int query, int key) const {
    return weights[(static_cast<std::size_t>(head) * queries + query) * keys + key];
  }
  /// Returns true if the weight is masked: in a decoder, a token attends only to itself and earlier tokens.
  bool masked(int query, int key) const { return kind == AttentionKind::decoder_self && key > query; }
};

/// An image whose cells, such as patches, are tokens.
struct ImageTokens {
  Image image;  ///< the image as the input of the model
  /// The token of the upper left cell. The tokens of the other cells follow in row-major order. The last cells may have
  /// no token.
  int first = 0;
  int rows = 0, columns = 0;  ///< numbers of rows and columns of cells
  /// The box of each token, in pixels, if tokens are regions of the image instead of cells. The regions are shown on a
  /// grid of rows and columns.
  std::vector<Box> boxes = {};
  int cells() const { return rows * columns; }
};

struct AttentionRecord {
  std::string title;  ///< for example the model's name; may be empty
  /// The encoder's tokens, or the regions of an image; empty for decoder-only models.
  std::vector<std::string> source_tokens;
  /// The decoder's tokens, or the words that accompany an image; empty for encoder-only models.
  std::vector<std::string> target_tokens;
  std::vector<AttentionMap> maps;  ///< in display order
  /// Indices of special tokens, such as [CLS], which the user may want to hide.
  std::vector<int> source_special = {}, target_special = {};
  std::optional<ImageTokens> source_image = {}, target_image = {};  ///< set if the tokens are parts of an image
  /// For detectors, the box of each detected object (target token), in pixels of source_image.
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

/// Limits on the weights of a page and of a drawing. A page can have 12 layers of 12 heads over 650 tokens, or one
/// layer of 12 heads over 2,300. The limit of drawings is lower, so that viewers of vector graphics can show them.
constexpr std::int64_t kMostWeights = 64'000'000, kMostDrawnWeights = 16'000'000;

/// Returns the weight at the end of a map's color scale: the largest weight, but at least 0.001. The first query of a
/// causal map is ignored, since its only weight is always 1.
HEADLIGHT_API float LargestWeight(const AttentionMap& map);

/// Makes a map from the input of an AttentionHook, in a pass with one sentence.
HEADLIGHT_API AttentionMap MapOf(const LayerAttention& seen);

HEADLIGHT_API std::string_view AttentionTitle(AttentionKind kind);  ///< such as "Cross-attention"
HEADLIGHT_API std::string_view AttentionName(AttentionKind kind);   ///< for example "cross", the value of an option
HEADLIGHT_API std::string MapTitle(const AttentionMap& map);        ///< such as "Attention rollout (encoder)"
HEADLIGHT_API std::string MapName(const AttentionMap& map);  ///< such as "cross", "rollout-encoder" or "relevance"

/// Throws Error unless there is at least one map, there are at most `most` weights in total, and every map matches the
/// tokens. Also requires weights in [0, 1], masked weights of 0, and valid indices of images and special tokens.
HEADLIGHT_API void CheckAttention(const AttentionRecord& record, std::int64_t most = kMostWeights);

/// Adds attention rollout (Abnar and Zuidema, "Quantifying Attention Flow in Transformers", 2020) for each
/// self-attention with consecutive layers from the first one. R(l) = (A(l) + I) / 2 R(l-1) measures how much of each
/// input token reaches a token after layer l. A(l) is the mean over the heads of layer l.
HEADLIGHT_API void AddRollout(AttentionRecord& record);

/// Selects maps by kind (or rollout) and by layer (from 0).
struct AttentionChoice {
  std::optional<AttentionKind> kind = {};
  bool rollout = false;
  std::optional<int> layer = {};
};
/// Parses "encoder", "decoder", "cross", "text-to-image", "image-to-text" or "rollout". For any other text, throws
/// Error listing these names.
HEADLIGHT_API AttentionChoice ParseAttentionChoice(std::string_view name);

/// Keeps only the selected maps. Rollout maps are kept unless a kind is selected. If no map is selected, throws Error
/// listing the available maps.
HEADLIGHT_API AttentionRecord SelectAttention(AttentionRecord record, const AttentionChoice& choice);

}  // namespace headlight

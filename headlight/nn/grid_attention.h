// Causal attention over a text followed by a grid of image codes in row-major order (Child et al., "Generating Long
// Sequences with Sparse Transformers", 2019; Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, appendix B.1,
// figure 11). The cost of each kind is proportional to the number of visible keys, both with and without a cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/base/sequences.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/attention.h"

namespace headlight {

/// Determines the earlier codes that a code attends to, in addition to the whole text. Text tokens attend to all
/// earlier tokens.
enum class GridAttentionKind {
  full,         ///< all earlier codes
  row,          ///< the earlier codes of the same row
  column,       ///< the earlier codes of the same column
  convolution,  ///< the 5 x 5 square whose lower right corner is the code
};

inline constexpr ConfigName<GridAttentionKind> kGridAttentionNames[] = {
    {"full", GridAttentionKind::full},
    {"row", GridAttentionKind::row},
    {"column", GridAttentionKind::column},
    {"convolution", GridAttentionKind::convolution}};

/// The layout of a sequence: a text of fixed length, then the grid.
struct GridLayout {
  std::int32_t text = 1;  ///< length of the text in tokens
  Grid grid;              ///< grid of codes
};

/// Returns the mask of `kind` for a whole sequence.
HEADLIGHT_API AttentionMask MaskOf(GridAttentionKind kind, const GridLayout& layout);

/// The row indices and keys that all layers of a pass share. Each of `texts` is a prefix of a sequence: text, then
/// codes. With a cache, `texts` holds only the next tokens, and DecoderCache::Append must already have begun the pass.
struct HEADLIGHT_API GridPass {
  GridPass(const GridLayout& layout, const Sequences& texts, const DecoderCache* cache);

  /// The rows of keys in the format of ops::CachedKeys.
  struct Keys {
    Sequences sequences;
    std::vector<std::int32_t> rows;
  };

  GridLayout layout;
  const Sequences& texts;
  /// Without a cache: the rows of the pass in column-major order, and the inverse permutation. Incomplete columns are
  /// padded with the first row of their text.
  std::vector<std::int32_t> by_column, from_column;
  Sequences columns;
  /// With a cache: `single` lists the texts with earlier tokens and exactly one next token. `seen` lists their visible
  /// keys for each kind. `several` lists the other texts, whose keys are masked. The results of these two paths are not
  /// bit-identical, so a code is always computed in a pass of one token.
  Sequences single, several, several_keys;
  std::array<Keys, 4> seen;
};

struct GridAttentionConfig {
  std::int64_t model = 512;
  std::int32_t heads = 8;
  std::int64_t head_dim = 64;
  double dropout = 0;  ///< dropout rate of the attention weights
  GridAttentionKind kind = GridAttentionKind::full;
};

/// Causal self-attention over a text and a grid, of the kind that the config selects.
class HEADLIGHT_API GridAttention {
 public:
  /// Declares query_key_value [3 * heads * head_dim, model] without bias, and output [model, heads * head_dim] with
  /// bias. Attention hooks receive decoder_self and `layer` with the weights.
  GridAttention(const Scope& scope, const GridAttentionConfig& config, int layer);

  Tensor operator()(Context& context, const Tensor& x,
                    const GridPass& pass) const;  ///< maps x [tokens, model] to [tokens, model]

 private:
  Tensor Attend(Context& context, const Tensor& projected, const GridPass& pass) const;
  Tensor AttendOverCache(Context& context, const Tensor& projected, const GridPass& pass) const;

  GridAttentionConfig config_;
  std::int64_t width_;  // heads * head_dim
  int layer_;
  Linear query_key_value_, output_;
};

}  // namespace headlight

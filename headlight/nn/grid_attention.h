// Causal attention over a text and a grid of codes behind it, row by row (Child et al., "Generating Long Sequences with
// Sparse Transformers", 2019; Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, appendix B.1, figure 11). The
// cost of each kind follows the keys that it sees, in a whole pass and over a cache.
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

// The earlier codes that a code sees, besides all of the text. A text's tokens see all before them.
enum class GridAttentionKind {
  full,         // all
  row,          // of its row
  column,       // of its column
  convolution,  // of a square of 5 x 5 whose lower right corner it is
};

inline constexpr ConfigName<GridAttentionKind> kGridAttentionNames[] = {
    {"full", GridAttentionKind::full},
    {"row", GridAttentionKind::row},
    {"column", GridAttentionKind::column},
    {"convolution", GridAttentionKind::convolution}};

// Where a text of fixed length ends and the grid begins.
struct GridLayout {
  std::int32_t text = 1;  // positions
  Grid grid;              // of codes
};

// The mask of this kind over a whole sequence.
HEADLIGHT_API AttentionMask MaskOf(GridAttentionKind kind, const GridLayout& layout);

// Row indices and keys that all layers of a pass share. `texts`: the tokens of the pass, each sequence a text or a
// prefix of it and then codes; with a cache, whose pass has begun (DecoderCache::Append), the next tokens.
struct HEADLIGHT_API GridPass {
  GridPass(const GridLayout& layout, const Sequences& texts, const DecoderCache* cache);

  // Key rows, as ops::CachedKeys has them.
  struct Keys {
    Sequences sequences;
    std::vector<std::int32_t> rows;
  };

  GridLayout layout;
  const Sequences& texts;
  // Without a cache, the pass's rows with each grid column by column, filled up to whole columns with a text's first
  // row, and where each row of the pass stands there.
  std::vector<std::int32_t> by_column, from_column;
  Sequences columns;
  // With a cache, the texts that have a single next token after others, and the keys that each kind of it sees; and
  // the other texts, whose keys masks hide. A code's bits depend on which of the two it is: it is always read alone.
  Sequences single, several, several_keys;
  std::array<Keys, 4> seen;
};

struct GridAttentionConfig {
  std::int64_t model = 512;
  std::int32_t heads = 8;
  std::int64_t head_dim = 64;
  double dropout = 0;  // of the weights, in training
  GridAttentionKind kind = GridAttentionKind::full;
};

class HEADLIGHT_API GridAttention {
 public:
  // Declares query_key_value [3 * heads * head_dim, model] without a bias, and output [model, heads * head_dim] with
  // one. An AttentionSink receives decoder_self and `layer` with its weights.
  GridAttention(const Scope& scope, const GridAttentionConfig& config, int layer);

  Tensor operator()(Context& context, const Tensor& x, const GridPass& pass) const;  // [tokens, model] to the same

 private:
  Tensor Attend(Context& context, const Tensor& projected, const GridPass& pass) const;
  Tensor AttendOverCache(Context& context, const Tensor& projected, const GridPass& pass) const;

  GridAttentionConfig config_;
  std::int64_t width_;  // heads * head_dim
  int layer_;
  Linear query_key_value_, output_;
};

}  // namespace headlight

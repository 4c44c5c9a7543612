// Disentangled attention (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2021, section 3.1):
// content and relative position are scored by vectors of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"

namespace headlight {

// The vectors of the relative positions that there are between the tokens of some texts.
struct RelativeVectors {
  Tensor vectors;                            // [vectors, model]; empty where there is no relative attention
  std::int64_t longest = 0;                  // tokens in the longest text
  std::vector<std::int32_t> vector_of = {};  // by distance + longest - 1: which of them
};

// The row of a table of relative vectors for a query that stands `distance` places behind the key, where distances from
// `farthest` on share one. With buckets, which are fewer, distances above half of them share buckets by their logarithm
// (DeBERTa's version 2).
HEADLIGHT_API std::int64_t RelativeRow(std::int64_t distance, std::int64_t buckets, std::int64_t farthest);

// Those of `table` [rows, model].
RelativeVectors RelativeVectorsOf(const Tensor& table, const Sequences& texts, std::int64_t buckets,
                                  std::int64_t farthest);

struct HEADLIGHT_API DisentangledAttention {
  std::int32_t heads = 1;
  bool content_to_position = true, position_to_content = true;
  double dropout = 0;  // of the weights, in training
  int layer = 0;       // to an AttentionSink

  // softmax(scale (Q_c K_c^T + Q_c K_r^T + K_c Q_r^T)) V (equation 4), without the terms that are not wanted, scale
  // being 1 / sqrt(head_dim * terms). query, key and value [tokens, model]; relative_key and relative_query are the
  // vectors of `relative`, projected, or empty where their term is not wanted; [tokens, model].
  Tensor operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Sequences& texts, const RelativeVectors& relative, const Tensor& relative_key,
                    const Tensor& relative_query) const;
};

}  // namespace headlight

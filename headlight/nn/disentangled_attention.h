// Disentangled attention (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2021, section 3.1):
// content and relative position have separate vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"

namespace headlight {

/// The vectors of all relative positions that occur between the tokens of some texts.
struct RelativeVectors {
  Tensor vectors;                            ///< [vectors, model]; empty without relative attention
  std::int64_t longest = 0;                  ///< length of the longest text in tokens
  std::vector<std::int32_t> vector_of = {};  ///< indices into `vectors`, by distance + longest - 1
};

/// Returns the row of the relative position table for a query that is `distance` positions after its key. Distances of
/// at least `farthest` share a row. If `buckets` is positive and below `farthest`, distances above buckets / 2 share
/// logarithmic buckets (DeBERTa version 2).
HEADLIGHT_API std::int64_t RelativeRow(std::int64_t distance, std::int64_t buckets, std::int64_t farthest);

/// Returns the relative vectors of `texts`, taken from `table` [rows, model].
HEADLIGHT_API RelativeVectors RelativeVectorsOf(const Tensor& table, const Sequences& texts, std::int64_t buckets,
                                                std::int64_t farthest);

/// Attention with content and relative position terms.
struct HEADLIGHT_API DisentangledAttention {
  std::int32_t heads = 1;
  bool content_to_position = true, position_to_content = true;
  double dropout = 0;  ///< dropout rate of the attention weights
  int layer = 0;       ///< passed to attention hooks

  /// Computes softmax(scale (Q_c K_c^T + Q_c K_r^T + K_c Q_r^T)) V (equation 4) without disabled terms, with scale = 1
  /// / sqrt(head_dim * terms). query, key and value are [tokens, model]. relative_key and relative_query are the
  /// projections of `relative.vectors`, or empty if their term is disabled. Returns [tokens, model].
  Tensor operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Sequences& texts, const RelativeVectors& relative, const Tensor& relative_key,
                    const Tensor& relative_query) const;
};

}  // namespace headlight

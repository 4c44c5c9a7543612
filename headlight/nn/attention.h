// Attention (Vaswani et al., "Attention Is All You Need", 2017, section 3.2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/query_key_norm.h"
#include "headlight/ops/attention.h"
#include "headlight/ops/rotary.h"

namespace headlight {

/// Computes Attention(Q, K, V) = softmax(Q K^T / sqrt(head_dim)) V (eq. 1) for several heads.
struct HEADLIGHT_API ScaledDotProductAttention {
  std::int32_t heads = 1;
  AttentionMask mask = {};           ///< the keys that each query attends to
  std::optional<double> scale = {};  ///< default: 1 / sqrt(head_dim)
  double score_cap = 0;              ///< if positive, a scaled score s becomes score_cap tanh(s / score_cap)
  double dropout = 0;                ///< dropout rate of the attention weights
  ops::AttentionBias bias = {};      ///< added to the scores unless empty
  std::int32_t key_heads = 0;  ///< number of key heads, each shared by heads / key_heads query heads; 0: equal to heads
  /// One byte per row of `key`, 0 if no query attends to the row. If null, all rows are visible.
  std::shared_ptr<const std::vector<std::uint8_t>> present = {};
  Compute compute = Compute::float32;  ///< compute type of the layer's projections; see kernels::AttentionInput

  /// Computes attention. The inputs are query [query tokens, heads * head_dim], key [key tokens, key_heads * head_dim]
  /// and value [key tokens, key_heads * value_dim]. Returns [query tokens, heads * value_dim]. The queries of sequence
  /// b attend to the keys of entry b of `keys`.
  Tensor operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Sequences& queries, const Sequences& keys) const;
  /// Computes attention over the keys and values of a cache.
  Tensor operator()(const Tensor& query, const ops::CachedKeys& cached, const Sequences& queries) const;

  /// Passes the weights of every sequence to the context's attention hook, if it has one.
  void Report(const Context& context, const AttentionSource& source, const Tensor& query, const Tensor& key,
              const Sequences& queries, const Sequences& keys) const;
  void Report(const Context& context, const AttentionSource& source, const Tensor& query, const ops::CachedKeys& cached,
              const Sequences& queries) const;

  /// Computes attention like operator(), and passes the weights and their gradients to the context's hooks.
  Tensor Attend(Context& context, const AttentionSource& source, const Tensor& query, const Tensor& key,
                const Tensor& value, const Sequences& queries, const Sequences& keys) const;
  Tensor Attend(const Context& context, const AttentionSource& source, const Tensor& query,
                const ops::CachedKeys& cached, const Sequences& queries) const;

  /// Returns the attention weights of one sequence without dropout, [1, heads, query, key].
  Tensor Weights(const Tensor& query, const Tensor& key, const Sequences& queries, const Sequences& keys,
                 std::int32_t sequence) const;
  Tensor Weights(const Tensor& query, const ops::CachedKeys& cached, const Sequences& queries,
                 std::int32_t sequence) const;

  /// Records `attended`, the output of operator() for the same inputs, on the context's tape and returns it. During
  /// Backward, the context's hooks receive the weights of each sequence and their gradients.
  Tensor WithGradients(Context& context, const Tensor& attended, const Tensor& query, const Tensor& key,
                       const Tensor& value, const Sequences& queries, const Sequences& keys,
                       const AttentionSource& source) const;

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }

 private:
  ops::AttentionOptions OptionsFor(const Tensor& query, Dropout dropout_of_weights) const;
};

/// The names of the four projections in a checkpoint.
struct AttentionNames {
  std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "out_proj";
  std::string query_key_value =
      {};                        ///< if set, self-attention stores query, key and value as one tensor, in this order
  std::string key_value = {};    ///< if set, cross-attention stores key and value as one tensor, in this order
  bool grouped_by_head = false;  ///< if true, query_key_value has the queries, key and value of each key head in turn
};

struct MultiHeadAttentionConfig {
  std::int64_t model = 512;
  std::int32_t heads = 8;
  /// The number of key and value heads (Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from
  /// Multi-Head Checkpoints", 2023). Each is shared by heads / key_heads query heads. 0 means equal to `heads`.
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;  ///< default: model / heads
  double dropout = 0.1;       ///< dropout rate of the attention weights
  AttentionNames names = {};
  bool biases = true;                                   ///< if true, query, key and value projections have biases
  std::optional<bool> key_bias = {}, output_bias = {};  ///< default: `biases`
  bool stored_transposed = false;    ///< if true, the four weights are transposed on disk, as in Linear
  std::optional<double> scale = {};  ///< scale of the scores; default: 1 / sqrt(head_dim)
  /// If positive, a scaled score s becomes score_cap tanh(s / score_cap), before bias and mask (Gemma 2, section 2.2).
  double score_cap = 0;
  std::int32_t window = 0;  ///< if positive, self-attention is limited to keys at a distance below `window`
  std::int64_t memory = 0;  ///< dimension of the states that cross-attention attends to; default: model
};

/// The steps that are applied to projected queries and keys, in this order, before the scores are computed.
struct QueryKeySteps {
  const QueryKeyNorm* norm = nullptr;
  const HeadLayerNorms* head_norms = nullptr;
  const ops::RotaryAngles* angles = nullptr;  ///< angles of ops::Rotary
};

/// Computes MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (Vaswani et al., 2017, section 3.2.2). Self-attention
/// computes the query, key and value projections as one product. Cross-attention computes the key and value projections
/// as one product.
class HEADLIGHT_API MultiHeadAttention {
 public:
  /// Declares query [heads * head_dim, model], key and value [key_heads * head_dim, model], and output [model, heads *
  /// head_dim]. Attention hooks receive `kind` and `layer` with the weights.
  MultiHeadAttention(const Scope& scope, const MultiHeadAttentionConfig& config, AttentionKind kind, int layer);

  /// Computes self-attention of x [tokens, model]. The mask is causal if `causal` is true. `bias` is added to the
  /// scores unless it is empty. With a cache in the context, x holds the newest tokens of each sequence. The cache
  /// provides the keys of earlier tokens, to which `steps` were already applied.
  Tensor Self(Context& context, const Tensor& x, const Sequences& sequences, bool causal,
              const ops::AttentionBias& bias = {}, const QueryKeySteps& steps = {}) const;

  /// Computes cross-attention from x [query tokens, model] to a memory projected by KeysAndValues.
  Tensor Cross(Context& context, const Tensor& x, const Sequences& queries, const Tensor& keys_and_values,
               const Sequences& keys) const;

  /// Computes cross-attention to the memories of the context's cache. New memories are projected first.
  Tensor CrossOverCache(Context& context, const Tensor& x, const Sequences& queries) const;

  /// Projects the memory [key tokens, memory] to keys and values [key tokens, 2 * key_heads * head_dim].
  Tensor KeysAndValues(Context& context, const Tensor& memory) const;

 private:
  ScaledDotProductAttention Attention() const;
  Tensor QueryKeyValue(Context& context, const Tensor& x) const;

  MultiHeadAttentionConfig config_;
  std::int64_t width_, key_width_;  // heads * head_dim and key_heads * head_dim
  AttentionSource source_;
  std::optional<Linear> query_key_value_;                          // for self-attention
  const Parameter *query_bias_ = nullptr, *value_bias_ = nullptr;  // used if keys have no bias
  std::optional<Linear> query_, key_value_;                        // for cross-attention
  Linear output_;
};

}  // namespace headlight

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

// Attention(Q, K, V) = softmax(Q K^T / sqrt(head_dim)) V (eq. 1), for several heads side by side.
struct HEADLIGHT_API ScaledDotProductAttention {
  std::int32_t heads = 1;
  AttentionMask mask = {};           // which keys a query sees
  std::optional<double> scale = {};  // 1 / sqrt(head_dim) unless given
  double score_cap = 0;              // where positive, a scaled score s is score_cap tanh(s / score_cap)
  double dropout = 0;                // of the weights, in training
  ops::AttentionBias bias = {};      // added to the scores, unless empty
  std::int32_t key_heads = 0;        // each serves heads / key_heads query heads; 0: as many as heads
  // A mark for every row of key, 0 where no query sees it; none: all are seen.
  std::shared_ptr<const std::vector<std::uint8_t>> present = {};
  Compute compute = Compute::float32;  // that of the projections; see kernels::AttentionInput

  // query [query tokens, heads * head_dim], key [key tokens, key heads * head_dim], value [key tokens, key heads *
  // value_dim];
  // [query tokens, heads * value_dim]. Sentence b's queries see the keys of entry b of `keys`.
  Tensor operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Sequences& queries, const Sequences& keys) const;
  // The same over a cache.
  Tensor operator()(const Tensor& query, const ops::CachedKeys& cached, const Sequences& queries) const;

  /// Gives the weights of every sentence to the context's sink, where it has one.
  void Report(const Context& context, const AttentionSource& source, const Tensor& query, const Tensor& key,
              const Sequences& queries, const Sequences& keys) const;
  void Report(const Context& context, const AttentionSource& source, const Tensor& query, const ops::CachedKeys& cached,
              const Sequences& queries) const;

  /// operator(), and the context's sinks receive its weights and their gradients.
  Tensor Attend(Context& context, const AttentionSource& source, const Tensor& query, const Tensor& key,
                const Tensor& value, const Sequences& queries, const Sequences& keys) const;
  Tensor Attend(const Context& context, const AttentionSource& source, const Tensor& query,
                const ops::CachedKeys& cached, const Sequences& queries) const;

  // The weights of one sentence without dropout, [1, heads, query, key].
  Tensor Weights(const Tensor& query, const Tensor& key, const Sequences& queries, const Sequences& keys,
                 std::int32_t sentence) const;
  Tensor Weights(const Tensor& query, const ops::CachedKeys& cached, const Sequences& queries,
                 std::int32_t sentence) const;

  // `attended`, which operator() has made of these, as it is, but on the context's tape, whose Backward gives the
  // weights of each sentence and their gradient to the context's hooks.
  Tensor WithGradients(Context& context, const Tensor& attended, const Tensor& query, const Tensor& key,
                       const Tensor& value, const Sequences& queries, const Sequences& keys,
                       const AttentionSource& source) const;

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }

 private:
  ops::AttentionOptions OptionsFor(const Tensor& query, Dropout dropout_of_weights) const;
};

// The names of the four projections in a checkpoint.
struct AttentionNames {
  std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "out_proj";
  std::string query_key_value = {};  // where given, those three are one tensor in self-attention, one after another
  std::string key_value = {};        // where given, those two are one tensor in cross-attention
};

struct MultiHeadAttentionConfig {
  std::int64_t model = 512;
  std::int32_t heads = 8;
  /// Heads of keys and values, each for heads / key_heads query heads (Ainslie et al., "GQA: Training Generalized
  /// Multi-Query Transformer Models from Multi-Head Checkpoints", 2023); 0: as many as heads.
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;  // model / heads unless given
  double dropout = 0.1;       // of the weights, in training
  AttentionNames names = {};
  bool biases = true;                                   // of query, key and value
  std::optional<bool> key_bias = {}, output_bias = {};  // as those unless given
  bool stored_transposed = false;                       // the four matrices, as in Linear
  std::optional<double> scale = {};                     // of the scores: 1 / sqrt(head_dim) unless given
  /// If positive, a scaled score s is score_cap tanh(s / score_cap), before bias and mask (Gemma 2, section 2.2).
  double score_cap = 0;
  std::int32_t window = 0;  // where positive, self-attention sees only keys nearer than this
  std::int64_t memory = 0;  // numbers of a state that cross-attention reads: model unless given
};

/// What a layer does to queries and keys between their projections and their scores, in this order.
struct QueryKeySteps {
  const QueryKeyNorm* norm = nullptr;
  const ops::RotaryAngles* angles = nullptr;  // ops::Rotary
};

// MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (section 3.2.2). In self-attention the projections of query, key
// and value are one product; in cross-attention those of key and value are.
class HEADLIGHT_API MultiHeadAttention {
 public:
  // Declares query [heads * head_dim, model], key and value [key heads * head_dim, model], and output [model, heads *
  // head_dim]. An AttentionSink receives `kind` and `layer` with its weights.
  MultiHeadAttention(const Scope& scope, const MultiHeadAttentionConfig& config, AttentionKind kind, int layer);

  /// Self-attention: x [tokens, model] of the sentences, masked if causal, with a bias of the scores unless it is
  /// empty. With a cache in the context, x holds the sentences' newest tokens, and the keys of all earlier ones come
  /// from the cache, which keeps them as the steps leave them.
  Tensor Self(Context& context, const Tensor& x, const Sequences& sentences, bool causal,
              const ops::AttentionBias& bias = {}, const QueryKeySteps& steps = {}) const;

  // Cross-attention from x [query tokens, model] to a memory that KeysAndValues has projected.
  Tensor Cross(Context& context, const Tensor& x, const Sequences& queries, const Tensor& keys_and_values,
               const Sequences& keys) const;

  // The same over the memories of the context's cache, whose new states it projects first.
  Tensor CrossOverCache(Context& context, const Tensor& x, const Sequences& queries) const;

  // The states that are read, [key tokens, memory], projected: [key tokens, 2 * key heads * head_dim].
  Tensor KeysAndValues(Context& context, const Tensor& memory) const;

 private:
  ScaledDotProductAttention Attention() const;
  Tensor QueryKeyValue(Context& context, const Tensor& x) const;

  MultiHeadAttentionConfig config_;
  std::int64_t width_, key_width_;  // heads * head_dim, of queries and of keys
  AttentionSource source_;
  std::optional<Linear> query_key_value_;                          // self
  const Parameter *query_bias_ = nullptr, *value_bias_ = nullptr;  // where keys have none
  std::optional<Linear> query_, key_value_;                        // cross
  Linear output_;
};

}  // namespace headlight

// Embeds templates, which are known structures of related proteins aligned to the chain (Jumper et al., "Highly
// accurate protein structure prediction with AlphaFold", 2021, supplement, section 1.7.1).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/protein/nn/evoformer.h"
#include "headlight/protein/nn/pair_stack.h"
#include "headlight/protein/templates.h"

namespace headlight {

struct TemplateConfig {
  /// The pair representation of a template and the number of blocks that update it.
  PairStackConfig stack = {
      .pair = 64, .channels = 64, .heads = 4, .head_dim = 16, .transition = 2, .attention_first = true};
  int blocks = 2;
  std::int32_t heads = 4;  // for the attention from the chain's pairs to the templates' pairs
  std::int64_t head_dim = 16;
};

/// Implements algorithm 16 for one template at a time: blocks of triangle attention, triangle multiplication and a
/// transition, then a norm. Training uses gradient checkpointing, as in EvoformerStack.
class HEADLIGHT_API TemplatePairStack {
 public:
  /// Declares blocks.0, blocks.1 and so on, and layer_norm.
  TemplatePairStack(const Scope& scope, const PairStackConfig& config, int blocks);

  /// Maps `pair` [residues * residues, pair] to the same shape. `after_block` is called after each block, as in
  /// FoldingModel::Pass.
  Tensor operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid,
                    const std::function<void()>& after_block = {}) const;

 private:
  std::vector<PairStack> blocks_;
  LayerNorm norm_;
};

/// Implements algorithm 17: each pair of the chain attends to the same pair of all templates.
class HEADLIGHT_API TemplatePointwiseAttention {
 public:
  /// Declares mha.linear_q, mha.linear_k and mha.linear_v without biases, and mha.linear_o.
  TemplatePointwiseAttention(const Scope& scope, std::int64_t pair, const TemplateConfig& config);

  /// Returns the keys and values of one template, given its pair representation [residues * residues, pair].
  Tensor KeysAndValues(Context& context, const Tensor& of_template) const { return key_value_(context, of_template); }
  /// Returns the update of the chain's pair representation [residues * residues, pair].
  Tensor operator()(Context& context, const Tensor& pair, const std::vector<Tensor>& keys_values) const;

 private:
  std::int32_t heads_;
  Linear query_, key_value_, output_;
};

/// Implements algorithm 2, lines 7 to 13: embeds the templates.
class HEADLIGHT_API TemplateEmbedder {
 public:
  /// Declares template_single_embedder, template_pair_embedder, template_pair_stack and template_pointwise_att.
  TemplateEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair, const TemplateConfig& config);

  /// Adds the embedding of one or more templates to the pairs, and appends rows to the alignment. Templates are
  /// embedded one at a time, and only their keys and values are kept.
  FoldingState operator()(Context& context, const FoldingState& state, const std::vector<TemplateFeatures>& templates,
                          const std::function<void()>& after_block = {}) const;

 private:
  Tensor EmbedPairs(Context& context, const TemplateFeatures& features) const;

  Linear first_angles_, second_angles_, pairs_;
  TemplatePairStack stack_;
  TemplatePointwiseAttention attention_;
};

}  // namespace headlight

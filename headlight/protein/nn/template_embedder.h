// Templates, known structures of relatives that are aligned to the chain, as AlphaFold reads them (Jumper et al.,
// "Highly accurate protein structure prediction with AlphaFold", 2021, supplement, section 1.7.1).
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
  // A template's pairs, and the blocks over them.
  PairStackConfig stack = {
      .pair = 64, .channels = 64, .heads = 4, .head_dim = 16, .transition = 2, .attention_first = true};
  int blocks = 2;
  std::int32_t heads = 4;  // of the pairs' attention to those of the templates
  std::int64_t head_dim = 16;
};

// Algorithm 16, a template at a time: blocks of triangle attention, triangle multiplication and a transition, then a
// norm. In training only the pairs between blocks are kept, as in EvoformerStack.
class HEADLIGHT_API TemplatePairStack {
 public:
  // Declares blocks.0, blocks.1 and so on, and layer_norm.
  TemplatePairStack(const Scope& scope, const PairStackConfig& config, int blocks);

  // pair [residues * residues, pair] to the same. `after_block` as of FoldingModel::Pass.
  Tensor operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid,
                    const std::function<void()>& after_block = {}) const;

 private:
  std::vector<PairStack> blocks_;
  LayerNorm norm_;
};

// Algorithm 17: each pair of the chain attends to the same pair of every template.
class HEADLIGHT_API TemplatePointwiseAttention {
 public:
  // Declares mha.linear_q, mha.linear_k and mha.linear_v without biases, and mha.linear_o.
  TemplatePointwiseAttention(const Scope& scope, std::int64_t pair, const TemplateConfig& config);

  // The rows of one template that attention reads, [residues * residues, template's pair]: keys and values.
  Tensor KeysAndValues(Context& context, const Tensor& of_template) const { return key_value_(context, of_template); }
  // pair [residues * residues, pair] to its update.
  Tensor operator()(Context& context, const Tensor& pair, const std::vector<Tensor>& keys_values) const;

 private:
  std::int32_t heads_;
  Linear query_, key_value_, output_;
};

// Algorithm 2, lines 7 to 13.
class HEADLIGHT_API TemplateEmbedder {
 public:
  // Declares template_single_embedder, template_pair_embedder, template_pair_stack and template_pointwise_att.
  TemplateEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair, const TemplateConfig& config);

  // The state with the templates, of which there is at least one: added to the pairs, and as rows that follow those of
  // the alignment. Templates are embedded one after another; of each only its keys and values are held.
  FoldingState operator()(Context& context, const FoldingState& state, const std::vector<TemplateFeatures>& templates,
                          const std::function<void()>& after_block = {}) const;

 private:
  Tensor EmbedPairs(Context& context, const TemplateFeatures& features) const;

  Linear first_angles_, second_angles_, pairs_;
  TemplatePairStack stack_;
  TemplatePointwiseAttention attention_;
};

}  // namespace headlight
